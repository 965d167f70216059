import { AppError } from '../../errors/index.js';
import { type Principal, untilAborted } from '../../kernel/index.js';
import { parseImage } from '../../kernel/media/index.js';
import { imagesOf } from '../../llm/index.js';
import {
  type CallOptions,
  type ChatModel,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
  type Message,
  type ModelCapabilities,
  ModelWrapper,
} from '../../llm/chat/index.js';
import { MemoryRunContext, type RunContext } from '../../run/context/index.js';
import type { RunEvent } from '../../run/event/index.js';
import { mergeFacts } from '../../run/facts/index.js';
import type { Tool } from '../../tool/method/index.js';
import type { StatefulCalls } from '../../tool/stateful/index.js';
import { factsOfCaller, factsOfMessages, giveBackFacts } from '../loop/data-facts.executor.js';
import type { ReasoningEngine } from '../reasoning.engine.js';
import type { ReasoningRequest } from '../reasoning.types.js';
import { toEnhancedResult } from './enhanced-result.mapper.js';
import type { OfferedTools } from './offered-tools.factory.js';
import { RecordingChatModel } from './recording-chat-model.js';
import { SideBand } from './side-band.builder.js';

/** The context of one call of an enhanced model: it persists nothing and publishes only the text. */
class EnhancedRunContext extends MemoryRunContext {
  constructor(
    principal: Principal,
    signal: AbortSignal,
    private readonly onText: (text: string) => void,
  ) {
    super(principal, signal);
  }

  override emit(event: RunEvent): void {
    if (event.type === 'message.delta') this.onText(event.text);
  }
}

/** Maximum size of one tool result for the model, in UTF-8 bytes. */
const MAX_RESULT_BYTES = 65_536;

/** Dependencies and settings of an enhanced model. */
export interface Enhancement {
  readonly engine: ReasoningEngine;
  readonly tools: OfferedTools;
  readonly states: StatefulCalls;
  readonly protocol: string;
  readonly principal: Principal;
  /** Maximum rounds of tool calls in one call of the model. */
  readonly maxDepth: number;
}

/** A model that calls tools by itself: each call of it runs a loop of its own, which is not persisted. */
export class EnhancedChatModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly enhancement: Enhancement,
  ) {
    super(inner);
  }

  /** Callers cannot add tools. An agent on this model writes its calls as text, which passes through. */
  override get capabilities(): ModelCapabilities {
    return { ...this.inner.capabilities, functionCalling: false, forcedToolChoice: false };
  }

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return this.answer(request, options, null);
  }

  /** A consumer that closes the stream stops the loop. */
  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const left = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    const sideBand = new SideBand();
    const over = this.answer(request, { ...options, signal }, sideBand).then(
      (result) => sideBand.end(result),
      (error: unknown) => sideBand.fail(error),
    );
    try {
      yield* sideBand.parts();
    } finally {
      left.abort();
      await over;
    }
  }

  private async answer(request: ChatRequest, options: CallOptions, sideBand: SideBand | null): Promise<ChatResult> {
    const { signal } = options;
    signal?.throwIfAborted();
    const tools = await this.toolsFor(request, signal);
    const model = new RecordingChatModel(this.inner, options, sideBand);
    const { maxDepth } = this.enhancement;
    try {
      const outcome = await cancelledBy(signal, (own) => {
        const run = new EnhancedRunContext(this.principal(options), own, (text) => sideBand?.text(text));
        return this.reason({ ...this.toReasoning(request, tools), model, isStreaming: sideBand !== null }, run);
      });
      return toEnhancedResult(outcome, model, maxDepth);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  }

  private async reason(request: ReasoningRequest, run: RunContext) {
    const { engine, states } = this.enhancement;
    const outcome = await engine.run(request, run);
    if (outcome.kind === 'ended') await giveBackFacts(outcome.facts);
    // No later call can use the tool states of this call; states that cannot be removed now expire.
    if (outcome.kind === 'ended')
      await Promise.allSettled([...outcome.stateful].map((tool) => states.cleanup(tool, run)));
    return outcome;
  }

  private async toolsFor(
    { tools, toolChoice, messages }: ChatRequest,
    signal: AbortSignal | undefined,
  ): Promise<readonly Tool[]> {
    if (messages.length === 0)
      throw new AppError('VALIDATION_FAILED', 'There is nothing to answer: the request has no messages.');
    assertReadable(messages.at(-1)!);
    if (tools && tools.length > 0)
      throw new AppError(
        'VALIDATION_FAILED',
        'An enhanced model calls its own tools and no others: give all of them to enhance(), and none in a request.',
      );
    if (toolChoice === 'none') return [];
    const list = this.enhancement.tools.list();
    const offered = await (signal ? untilAborted(list, signal) : list);
    const wanted = typeof toolChoice === 'object' ? toolChoice.name : undefined;
    if (wanted !== undefined && !offered.some(({ definition }) => definition.name === wanted))
      throw new AppError('TOOL_NOT_FOUND', `toolChoice: the enhanced model has no tool "${wanted}".`);
    return offered;
  }

  private toReasoning(request: ChatRequest, tools: readonly Tool[]) {
    const { messages, toolChoice, parameters, optionalParameters, responseFormat } = request;
    const { protocol, maxDepth } = this.enhancement;
    return {
      agent: null,
      ...toTurn(messages),
      // The call counts as the run, and as the tool call, in whose code it is made.
      facts: mergeFacts(factsOfCaller(), factsOfMessages(messages, tools)),
      protocol,
      tools,
      ...(parameters && { parameters }),
      ...(optionalParameters && { optionalParameters }),
      // A model without tools cannot be forced to call one.
      ...(toolChoice !== undefined && tools.length > 0 && { toolChoice }),
      ...(responseFormat !== undefined && { responseFormat }),
      // One more iteration answers with the results of the last round.
      limits: { maxIterations: maxDepth + 1, maxResultBytes: MAX_RESULT_BYTES },
    };
  }

  private principal({ tenant }: CallOptions): Principal {
    const { principal } = this.enhancement;
    return tenant === undefined ? principal : { ...principal, tenant };
  }
}

/** Separates a leading system prompt, to which text protocols add their tools; other messages stay unchanged. */
function toTurn(messages: readonly Message[]): Pick<ReasoningRequest, 'instructions' | 'history' | 'input'> {
  const [first, ...rest] = messages;
  const prompt = first!.role === 'system' && rest.length > 0 ? first!.content : null;
  const said = prompt === null ? messages : rest;
  return { instructions: prompt ?? '', history: said.slice(0, -1), input: said.at(-1)! };
}

/**
 * Rejects unreadable images of the last message only; those of earlier messages become notes, so that the conversation
 * can continue.
 */
function assertReadable(message: Message): void {
  for (const [at, { url }] of imagesOf(message).entries()) {
    const image = parseImage(url);
    if (typeof image === 'string')
      throw new AppError('VALIDATION_FAILED', `Image ${at + 1} of the last message cannot be read: ${image}.`);
  }
}

/** Runs a call with its own signal, which the given signal aborts with `RUN_CANCELLED`. */
async function cancelledBy<T>(
  callerSignal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const stop = () =>
    own.abort(new AppError('RUN_CANCELLED', 'The call was cancelled.', { cause: callerSignal?.reason }));
  callerSignal?.addEventListener('abort', stop, { once: true });
  try {
    return await call(own.signal);
  } finally {
    callerSignal?.removeEventListener('abort', stop);
  }
}
