import {
  ChatModel,
  type CallOptions,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
} from '../../src/llm/index.js';

/** A scripted reply or error; a function receives the request and may wait. */
export type Scripted = ChatResult | Error | ((request: ChatRequest, signal?: AbortSignal) => Promise<ChatResult>);

/** A chat model with scripted replies, in order. Streams deliver the text in pieces. */
export class ScriptedChatModel extends ChatModel {
  readonly provider = 'scripted';
  readonly name = 'scripted-1';
  readonly capabilities = { vision: false, functionCalling: true, jsonMode: false };
  readonly requests: ChatRequest[] = [];
  /** The replies that were returned. */
  readonly answers: ChatResult[] = [];
  private readonly script: Scripted[];

  constructor(
    script: readonly Scripted[],
    /** Called with each request, before it is answered. */
    private readonly onRequest: () => void = () => undefined,
  ) {
    super();
    this.script = [...script];
  }

  async generate(request: ChatRequest, { signal }: CallOptions = {}): Promise<ChatResult> {
    this.requests.push(structuredClone(request));
    this.onRequest();
    signal?.throwIfAborted();
    const next = this.script.shift();
    if (!next) throw new Error('The script has no reply left.');
    if (next instanceof Error) throw next;
    const answer = typeof next === 'function' ? await next(request, signal) : next;
    this.answers.push(answer);
    return answer;
  }

  async *stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    const result = await this.generate(request, options);
    for (const text of result.message.content.match(/.{1,3}/gsu) ?? []) yield { type: 'text', text };
    yield { type: 'finish', result };
  }
}

const USAGE = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };

/** A reply of the scripted model. */
export function says(content: string, more: Partial<ChatResult> = {}): ChatResult {
  return { message: { role: 'assistant', content }, finishReason: 'stop', usage: USAGE, model: 'scripted-1', ...more };
}

/** A reply that calls tools: `[name, arguments]` each, the arguments as raw text or as a value. */
export function calls(...wanted: readonly (readonly [string, unknown])[]): ChatResult {
  const toolCalls = wanted.map(([name, args], i) => ({
    id: `call_${i}`,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  return { ...says(''), message: { role: 'assistant', content: '', toolCalls }, finishReason: 'tool_calls' };
}
