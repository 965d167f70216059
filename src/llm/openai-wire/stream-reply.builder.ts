import type { ChatResult, ChatStreamPart } from '../chat/chat.types.js';
import { parseJsonReply, type ReportedUsage } from '../wire/reply.parser.js';
import {
  buildResult,
  contentText,
  firstChoice,
  reasoningText,
  refusalText,
  ThoughtSignatureBuilder,
  toFinishReason,
  toReportedUsage,
  usageOf,
  wireCalls,
} from './reply.mapper.js';
import type { StreamedReply } from '../wire/chat-codec.types.js';
import { mergeFields, opaqueOfMessage, type StateOwner } from './message.mapper.js';
import { StreamCallBuilder } from './stream-call.builder.js';
import { StreamedUsageBuilder } from '../wire/streamed-usage.builder.js';
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
  private readonly signatures = new ThoughtSignatureBuilder();
  private opaque?: Readonly<Record<string, unknown>> | undefined;
  private model: string;
  private finish: unknown;
  private readonly counts = new StreamedUsageBuilder();
  private done = false;
  private hasChoice = false;

  /** @param owner the requested model: its name counts until the provider reports one */
  constructor(private readonly owner: StateOwner) {
    this.model = owner.model;
  }

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

  /**
   * Whether the reply is complete: a finish reason was received, or the end of the stream. Some gateways send no finish
   * reason (github.com/anomalyco/opencode/issues/43882).
   */
  get isComplete(): boolean {
    return this.hasChoice && (this.done || (typeof this.finish === 'string' && this.finish !== ''));
  }

  add(data: string, parts: ChatStreamPart[]): void {
    if (data.trim() === DONE) this.done = true;
    else if (data.trim() !== '') this.addEvent(data, parts);
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
    const { content, reasoning, refusal, finish, usage, model, opaque, owner } = this;
    const signedReasoning = this.signatures.result(owner.model, content);
    const calls = this.calls.result();
    return buildResult({ content, reasoning, refusal, finish, usage, model, calls, signedReasoning, opaque, owner });
  }

  /** @returns whether the event contains a part of the reply, not only metadata */
  private addEvent(data: string, parts: ChatStreamPart[]): boolean {
    const chunk: WireReply = parseJsonReply(data);
    if (typeof chunk.model === 'string' && chunk.model !== '') this.model = chunk.model;
    const choice = firstChoice(chunk);
    if (choice) this.addChoice(choice, parts);
    const usage = usageOf(chunk, choice);
    if (usage) this.counts.add(toReportedUsage(usage), this.length);
    return choice !== undefined;
  }

  private addChoice(choice: WireChoice, parts: ChatStreamPart[]): void {
    this.hasChoice = true;
    // A later reason does not make a truncated reply complete.
    if (choice.finish_reason && toFinishReason(this.finish, false) === 'stop') this.finish = choice.finish_reason;
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
    this.opaque = mergeFields(this.opaque, opaqueOfMessage(delta));
    if (delta.tool_calls) for (const fragment of wireCalls(delta.tool_calls)) this.calls.add(fragment);
    if (delta.tool_calls) this.signatures.add(wireCalls(delta.tool_calls));
  }
}
