import type { ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ReportedUsage } from '../usage.policy.js';
import { contentText, reasoningText, refusalText } from './content.mapper.js';
import type { StreamedReply } from '../wire/chat-codec.types.js';
import { parseJsonReply } from '../wire/json-reply.parser.js';
import { firstChoice, wireCalls } from './reply.mapper.js';
import { buildResult } from './result.builder.js';
import { StreamCallBuilder } from './stream-call.builder.js';
import { StreamedUsageBuilder } from '../wire/streamed-usage.builder.js';
import { toReportedUsage } from './usage.mapper.js';
import { BadReplyError } from '../wire/wire-failure.error.js';
import type { WireChoice, WireMessage, WireReply } from './wire-reply.types.js';

/** Data of the event that ends a stream. */
const DONE = '[DONE]';

/** Assembles a streamed reply: parts for the reader at once, and the complete reply at the end. */
export class StreamReplyBuilder implements StreamedReply {
  private content = '';
  private reasoning = '';
  private refusal = '';
  private readonly calls = new StreamCallBuilder();
  private finish: unknown;
  private readonly counts = new StreamedUsageBuilder();
  private done = false;

  constructor(private model: string) {}

  /** UTF-16 units of text, reasoning and call arguments so far. */
  get length(): number {
    const { content, reasoning, refusal, calls } = this;
    return content.length + reasoning.length + refusal.length + calls.length;
  }

  /** Token counts received so far. */
  get usage(): ReportedUsage {
    return this.counts.complete(this.length);
  }

  /** Whether the stream has ended. */
  get isDone(): boolean {
    return this.done;
  }

  /** Whether the reply is complete: a finish reason was received. */
  get isComplete(): boolean {
    return typeof this.finish === 'string' && this.finish !== '';
  }

  /** Parses the data of events and returns their parts. */
  add(events: readonly string[]): ChatStreamPart[] {
    const parts: ChatStreamPart[] = [];
    for (const data of events) {
      if (data === DONE) this.done = true;
      else if (data !== '') this.addEvent(data, parts);
    }
    return parts;
  }

  /** Parses a reply without streaming to a streaming request. */
  addWhole(body: string): ChatStreamPart[] {
    const parts: ChatStreamPart[] = [];
    const hasChoice = this.addEvent(body, parts);
    if (!hasChoice) throw new BadReplyError('a reply without choices');
    this.finish ??= 'stop';
    return parts;
  }

  /** The complete reply. @throws BadReplyError for an incomplete or invalid one */
  result(): ChatResult {
    const { content, reasoning, refusal, finish, usage, model } = this;
    return buildResult({ content, reasoning, refusal, finish, usage, model, calls: this.calls.result() });
  }

  /** @returns whether the event contains a part of the reply, not only metadata */
  private addEvent(data: string, parts: ChatStreamPart[]): boolean {
    const chunk: WireReply = parseJsonReply(data);
    if (typeof chunk.model === 'string' && chunk.model !== '') this.model = chunk.model;
    const choice = firstChoice(chunk);
    if (choice) this.addChoice(choice, parts);
    if (chunk.usage) this.counts.add(toReportedUsage(chunk.usage), this.length);
    return choice !== undefined;
  }

  private addChoice(choice: WireChoice, parts: ChatStreamPart[]): void {
    if (choice.finish_reason) this.finish = choice.finish_reason;
    // Some servers put the last or only chunk into `message`.
    const delta = choice.delta ?? choice.message;
    if (delta) this.addDelta(delta, parts);
  }

  private addDelta(delta: WireMessage, parts: ChatStreamPart[]): void {
    const reasoning = reasoningText(delta);
    if (reasoning !== '') {
      this.reasoning += reasoning;
      parts.push({ type: 'reasoning', text: reasoning });
    }
    const content = contentText(delta.content);
    this.content += content;
    const refusal = refusalText(delta);
    this.refusal += refusal;
    const text = content + refusal;
    if (text !== '') parts.push({ type: 'text', text });
    if (delta.tool_calls) for (const fragment of wireCalls(delta.tool_calls)) this.calls.add(fragment);
  }
}
