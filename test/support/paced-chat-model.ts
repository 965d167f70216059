import { ChatModel, type ChatRequest, type ChatResult, type ChatStreamPart } from '../../src/llm/chat/index.js';

type Calls = NonNullable<ChatResult['message']['toolCalls']>;

/** One streamed reply whose text and timing a test controls. */
export class PacedReply {
  private readonly parts: ChatStreamPart[] = [];
  private text = '';
  private wake: () => void = () => undefined;

  say(text: string): void {
    this.text += text;
    this.push({ type: 'text', text });
  }

  /** Ends the reply with its whole text. */
  finish(toolCalls?: Calls): void {
    const { text } = this;
    const message = { role: 'assistant', content: text, ...(toolCalls && { toolCalls }) } as const;
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
    const finishReason = toolCalls ? 'tool_calls' : 'stop';
    this.push({ type: 'finish', result: { message, finishReason, usage, model: 'paced-1' } });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChatStreamPart, void> {
    for (let at = 0; ; at++) {
      while (at === this.parts.length) await new Promise<void>((resolve) => (this.wake = resolve));
      const part = this.parts[at]!;
      yield part;
      if (part.type === 'finish') return;
    }
  }

  private push(part: ChatStreamPart): void {
    this.parts.push(part);
    this.wake();
  }
}

/** A chat model whose streams a test paces. */
export class PacedChatModel extends ChatModel {
  readonly provider = 'paced';
  readonly name = 'paced-1';
  readonly capabilities = { vision: false, functionCalling: true, jsonMode: false };
  private readonly asked: PacedReply[] = [];
  private readonly waiting: ((reply: PacedReply) => void)[] = [];

  /** The next requested reply, when it is requested. */
  next(): Promise<PacedReply> {
    const reply = this.asked.shift();
    return reply ? Promise.resolve(reply) : new Promise((resolve) => this.waiting.push(resolve));
  }

  stream(_request: ChatRequest): AsyncIterable<ChatStreamPart> {
    const reply = new PacedReply();
    const waiting = this.waiting.shift();
    if (waiting) waiting(reply);
    else this.asked.push(reply);
    return reply;
  }

  generate(): Promise<ChatResult> {
    throw new Error('This model only streams.');
  }
}
