import type { ChatResult, ChatStreamPart } from '../../chat/chat.types.js';
import { parseJsonReply, type ReportedUsage } from '../../wire/reply.parser.js';
import type { StreamedReply } from '../../wire/chat-codec.types.js';
import { StreamedUsageBuilder } from '../../wire/streamed-usage.builder.js';
import {
  buildResult,
  nameOf,
  toCounts,
  toReportedUsage,
  toWholeBlock,
  toWholeReply,
  type WholeReply,
} from './reply.mapper.js';
import type { ReplyBlock, WholeBlock } from './wire-block.types.js';

/** A block that is still streaming. */
interface OpenBlock {
  readonly start: ReplyBlock;
  /** Concatenated deltas: text, reasoning, or the JSON of an input. */
  text: string;
  signature: string;
}

type Event = Readonly<Record<string, unknown>>;

/** Assembles a streamed message (platform.claude.com, "Streaming messages"). */
export class StreamReplyBuilder implements StreamedReply {
  private readonly blocks = new Map<unknown, OpenBlock>();
  private stopReason: unknown;
  private readonly counts = new StreamedUsageBuilder();
  private generated = 0;
  private model: string;
  private whole?: WholeReply;
  private stopped = false;

  constructor(
    /** The requested model. */
    private readonly requestedModel: string,
  ) {
    this.model = requestedModel;
  }

  get length(): number {
    return this.generated;
  }

  get usage(): ReportedUsage {
    return this.counts.complete(this.generated);
  }

  get isDone(): boolean {
    return this.stopped;
  }

  /** Requires both the stop reason and the end event. */
  get isComplete(): boolean {
    return this.whole !== undefined || (this.stopped && typeof this.stopReason === 'string');
  }

  add(data: string, parts: ChatStreamPart[]): void {
    if (data !== '') this.addEvent(parseJsonReply(data), parts);
  }

  addWhole(body: string): ChatStreamPart[] {
    this.whole = toWholeReply(body, this.requestedModel);
    return this.whole.blocks.flatMap((block): ChatStreamPart[] => {
      if (block.type === 'text') return [{ type: 'text', text: block.text }];
      return block.type === 'thinking' ? [{ type: 'reasoning', text: block.thinking }] : [];
    });
  }

  result(): ChatResult {
    const { stopReason, model, requestedModel, usage } = this;
    const blocks = [...this.blocks.values()].flatMap(toWhole);
    return buildResult(this.whole ?? { blocks, stopReason, usage, model, requestedModel });
  }

  private addEvent(event: Event, parts: ChatStreamPart[]): void {
    switch (event['type']) {
      case 'message_start':
        this.start(toCounts(event['message']));
        break;
      case 'content_block_start':
        this.open(event['index'], toCounts(event['content_block']), parts);
        break;
      case 'content_block_delta':
        this.extend(this.blocks.get(event['index']), toCounts(event['delta']), parts);
        break;
      case 'message_delta':
        this.stopReason = toCounts(event['delta'])['stop_reason'] ?? this.stopReason;
        this.counts.add(toReportedUsage(event['usage']), this.generated);
        break;
      case 'message_stop':
        this.stopped = true;
        break;
    }
  }

  private start(message: Event): void {
    this.model = nameOf(message['model']) ?? this.requestedModel;
    this.counts.add(toReportedUsage(message['usage']), this.generated);
  }

  private open(index: unknown, start: ReplyBlock, parts: ChatStreamPart[]): void {
    const block: OpenBlock = { start, text: '', signature: '' };
    this.blocks.set(index, block);
    const said = start.type === 'text' ? start.text : start.thinking;
    if (typeof said === 'string') this.say(block, said, parts);
    if (typeof start.signature === 'string') block.signature = start.signature;
  }

  private extend(block: OpenBlock | undefined, delta: Event, parts: ChatStreamPart[]): void {
    if (!block) return;
    const { text, thinking, signature, partial_json: json } = delta;
    if (typeof json === 'string') this.grow(block, json);
    else if (typeof signature === 'string') block.signature += signature;
    else if (typeof text === 'string') this.say(block, text, parts);
    else if (typeof thinking === 'string') this.say(block, thinking, parts);
  }

  private say(block: OpenBlock, text: string, parts: ChatStreamPart[]): void {
    if (text === '') return;
    this.grow(block, text);
    if (block.start.type === 'text') parts.push({ type: 'text', text });
    else if (block.start.type === 'thinking') parts.push({ type: 'reasoning', text });
  }

  private grow(block: OpenBlock, text: string): void {
    block.text += text;
    this.generated += text.length;
  }
}

function toWhole({ start, text, signature }: OpenBlock): WholeBlock[] {
  return toWholeBlock({ ...start, text, thinking: text, signature }, text === '' ? undefined : text);
}
