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

/** The data of the event that ends a stream. */
const DONE = '[DONE]';

/** Puts a streamed reply together: what a reader sees at once, and the whole at the end. */
export class StreamReplyBuilder implements StreamedReply {
  private content = '';
  private reasoning = '';
  private refusal = '';
  private readonly calls = new StreamCallBuilder();
  private finish: unknown;
  private readonly counts = new StreamedUsageBuilder();
  private done = false;

  constructor(private model: string) {}

  /** UTF-16 units of text, reasoning and arguments of calls so far. */
  get length(): number {
    const { content, reasoning, refusal, calls } = this;
    return content.length + reasoning.length + refusal.length + calls.length;
  }

  /** The counts that arrived so far. */
  get usage(): ReportedUsage {
    return this.counts.complete(this.length);
  }

  /** Whether nothing more will come. */
  get isDone(): boolean {
    return this.done;
  }

  /** Whether the reply was seen to its end: a finish reason came. */
  get isComplete(): boolean {
    return typeof this.finish === 'string' && this.finish !== '';
  }

  /** Takes the data of events, and gives what they say. */
  add(events: readonly string[]): ChatStreamPart[] {
    const parts: ChatStreamPart[] = [];
    for (const data of events) {
      if (data === DONE) this.done = true;
      else if (data !== '') this.addEvent(data, parts);
    }
    return parts;
  }

  /** Takes a reply that came whole although a stream was asked for. */
  addWhole(body: string): ChatStreamPart[] {
    const parts: ChatStreamPart[] = [];
    const hasChoice = this.addEvent(body, parts);
    if (!hasChoice) throw new BadReplyError('a reply without choices');
    this.finish ??= 'stop';
    return parts;
  }

  /** The whole reply. Throws `BadReplyError` when it is none. */
  result(): ChatResult {
    const { content, reasoning, refusal, finish, usage, model } = this;
    return buildResult({ content, reasoning, refusal, finish, usage, model, calls: this.calls.result() });
  }

  /** Whether the event was part of the reply, not only of what is told beside it. */
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
    // A server may put the last, or only, piece into `message`.
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
