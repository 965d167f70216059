import { AssertionError } from 'node:assert';
import { AppError } from '../errors/index.js';
import {
  ChatModel,
  type CallOptions,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
  type ModelCapabilities,
} from '../llm/chat/index.js';
import {
  faultOf,
  piecesOf,
  toResult,
  toRule,
  type ScriptedReplier,
  type ScriptedReply,
  type ScriptLine,
  type ScriptRule,
} from './script-line.js';
import { mismatches } from './script-match.js';
import { unexpectedRequest, unusedLines } from './script-report.js';

interface Line extends Omit<ScriptRule, 'times'> {
  readonly when: ScriptRule['when'];
  readonly number: number;
  /** Whether it may be unused. */
  readonly isOptional: boolean;
  left: number;
}

interface Played {
  readonly result: ChatResult;
  readonly pieces: readonly string[];
  readonly fault: AppError | undefined;
}

export interface ScriptedModelOptions {
  readonly name?: string;
  readonly capabilities?: Partial<ModelCapabilities>;
}

/**
 * A chat model that answers by a script. The first unused line whose `when` matches answers a request; a line without
 * `when` matches each request. A request that no line answers fails its run and `assertDone`.
 */
export class ScriptedModel extends ChatModel {
  readonly provider = 'scripted';
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  /** The requests, in order. */
  readonly requests: ChatRequest[] = [];
  /** The replies of the script, in order. */
  readonly answers: ChatResult[] = [];
  private readonly lines: Line[] = [];
  private unexpected: AppError | undefined;

  constructor(script: readonly ScriptLine[] = [], { name = 'scripted-1', capabilities }: ScriptedModelOptions = {}) {
    super();
    this.name = name;
    this.capabilities = { vision: false, functionCalling: true, jsonMode: false, ...capabilities };
    this.reply(...script);
  }

  /** Adds lines. */
  reply(...lines: readonly ScriptLine[]): this {
    for (const line of lines) {
      const { when, reply, times = 1 } = toRule(line);
      const isOptional = times === 'any';
      const number = this.lines.length + 1;
      this.lines.push({ when, reply, number, isOptional, left: isOptional ? Infinity : times });
    }
    return this;
  }

  /** The last request. @throws AssertionError if no request has arrived */
  get lastRequest(): ChatRequest {
    const last = this.requests.at(-1);
    if (!last) throw new AssertionError({ message: 'The scripted model had no request.' });
    return last;
  }

  /** @throws AssertionError if a request was unexpected, or a line is unused */
  assertDone(): void {
    if (this.unexpected) throw new AssertionError({ message: this.unexpected.message });
    const unused = this.lines.filter(({ left, isOptional }) => left > 0 && !isOptional);
    if (unused.length > 0) throw new AssertionError({ message: unusedLines(unused, this.requests) });
  }

  async generate(request: ChatRequest, { signal }: CallOptions = {}): Promise<ChatResult> {
    const { result, fault } = await this.play(request, signal);
    if (fault) throw fault;
    return result;
  }

  async *stream(request: ChatRequest, { signal }: CallOptions = {}): AsyncIterable<ChatStreamPart> {
    const { result, pieces, fault } = await this.play(request, signal);
    const { reasoning } = result.message;
    if (reasoning !== undefined) yield { type: 'reasoning', text: reasoning };
    for (const text of pieces) {
      signal?.throwIfAborted();
      yield { type: 'text', text };
    }
    if (fault) throw fault;
    yield { type: 'finish', result };
  }

  private async play(request: ChatRequest, signal: AbortSignal | undefined): Promise<Played> {
    this.requests.push(structuredClone(request));
    signal?.throwIfAborted();
    const reply = await this.next(request, signal);
    if (reply instanceof Error) throw reply;
    const result = toResult(reply, this.name);
    const fault = faultOf(reply, this.name);
    if (!fault) this.answers.push(result);
    return { result, pieces: piecesOf(reply, result), fault };
  }

  private async next(request: ChatRequest, signal: AbortSignal | undefined): Promise<ScriptedReply> {
    const unused = this.lines.filter(({ left }) => left > 0);
    const line = unused.find(({ when }) => mismatches(when, request).length === 0);
    if (!line) throw this.refuse(request, unused);
    line.left--;
    return isReplier(line.reply) ? line.reply(request, signal) : line.reply;
  }

  private refuse(request: ChatRequest, unused: readonly Line[]): AppError {
    const error = new AppError('MODEL_REFUSED', unexpectedRequest(this.requests.length, request, unused));
    this.unexpected ??= error;
    return error;
  }
}

function isReplier(reply: ScriptedReply | ScriptedReplier): reply is ScriptedReplier {
  return typeof reply === 'function';
}
