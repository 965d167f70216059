import { isJsonObject } from '../../kernel/json/index.js';
import type { ChatResult, ChatStreamPart } from '../chat/chat.types.js';
import type { StateOwner } from '../openai-wire/message.mapper.js';
import { parseJsonReply, type ReportedUsage } from '../wire/reply.parser.js';
import type { StreamedReply } from '../wire/chat-codec.types.js';
import { StreamedUsageBuilder } from '../wire/streamed-usage.builder.js';
import { BadReplyError, MissingApiError } from '../wire/wire-failure.error.js';
import { SEPARATOR } from './input.mapper.js';
import {
  assertReplied,
  buildResult,
  itemsOf,
  outputText,
  reasoningText,
  refusalText,
  toReportedUsage,
  toWireResponse,
  type WireEvent,
  type WireItem,
  type WireResponse,
} from './reply.mapper.js';

/** An item that is still streaming. */
interface OpenItem {
  /** Place in `output`, as the server sends it. */
  readonly index: number | undefined;
  item: WireItem;
  /** Concatenated deltas. */
  text: string;
  refusal: string;
  reasoning: string;
  /** The part of the summary or text that the last delta belongs to. */
  part: unknown;
  arguments: string;
  isDone: boolean;
}

/** Assembles a streamed response (developers.openai.com, "Responses API", streaming events). */
export class StreamReplyBuilder implements StreamedReply {
  /** In the order of their arrival. */
  private readonly open: OpenItem[] = [];
  private readonly counts = new StreamedUsageBuilder();
  private response?: WireResponse;
  private generated = 0;
  private hasText = false;
  private hasReasoning = false;
  private isKnown = false;

  constructor(private readonly owner: StateOwner) {}

  get length(): number {
    return this.generated;
  }

  get usage(): ReportedUsage {
    return this.counts.complete(this.generated);
  }

  get isDone(): boolean {
    return this.response !== undefined;
  }

  /** Requires the event that ends a response; a `[DONE]` alone does not. */
  get isComplete(): boolean {
    return this.isDone;
  }

  add(data: string, parts: ChatStreamPart[]): void {
    if (data.trim() === '' || data.trim() === '[DONE]') return;
    const event: WireEvent = parseJsonReply(data);
    if (!this.isKnown && typeof event.type !== 'string') {
      throw new MissingApiError(new BadReplyError('a stream of another API than Responses'));
    }
    this.isKnown = true;
    this.addEvent(event, parts);
  }

  /** Parses a reply without streaming to a streaming request. */
  addWhole(body: string): ChatStreamPart[] {
    const parts: ChatStreamPart[] = [];
    this.end(toWireResponse(body), parts);
    return parts;
  }

  /** The complete reply. @throws BadReplyError for an invalid one */
  result(): ChatResult {
    const { response = {}, usage, owner } = this;
    const isPlaced = this.open.every(({ index: at }) => at !== undefined);
    const ordered = isPlaced ? this.open.toSorted((a, b) => a.index! - b.index!) : this.open;
    const items = ordered.map(toItem);
    return buildResult({ response, items, usage, owner });
  }

  private addEvent(event: WireEvent, parts: ChatStreamPart[]): void {
    switch (event.type) {
      case 'response.output_item.added':
        this.start(event);
        break;
      case 'response.output_text.delta':
        this.addText(this.itemOf(event, 'message'), 'text', event.delta, parts);
        break;
      case 'response.refusal.delta':
        this.addText(this.itemOf(event, 'message'), 'refusal', event.delta, parts);
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.addReasoning(event, parts);
        break;
      case 'response.function_call_arguments.delta':
        this.addArguments(this.itemOf(event, 'function_call'), event.delta);
        break;
      case 'response.output_item.done':
        if (isJsonObject(event.item)) this.finish(this.itemOf(event, event.item['type']), event.item, parts);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.end(toResponse(event), parts);
        break;
    }
  }

  /** Adds an item. Its place does not identify it, since servers repeat places; an item that starts again is one item. */
  private start({ output_index: index, item }: WireEvent): OpenItem {
    const id = isJsonObject(item) ? item['id'] : undefined;
    const known = id === undefined ? undefined : this.open.find((one) => !one.isDone && one.item.id === id);
    if (known) return known;
    const open: OpenItem = {
      index: typeof index === 'number' ? index : undefined,
      item: isJsonObject(item) ? item : {},
      text: '',
      refusal: '',
      reasoning: '',
      part: undefined,
      arguments: '',
      isDone: false,
    };
    this.open.push(open);
    return open;
  }

  /**
   * The item of an event: the one with its id; else the latest one at its place, as servers may send another id in each
   * event; else, without a place, the latest one of its type.
   */
  private itemOf(event: WireEvent, type: unknown): OpenItem {
    const { output_index: index } = event;
    const id = event.item_id ?? (event.item as WireItem | undefined)?.id;
    const isOfType = ({ item }: OpenItem) => item.type === undefined || item.type === type;
    const found =
      (id === undefined ? undefined : this.open.findLast(({ item }) => item.id === id)) ??
      this.open.findLast((one) => isOfType(one) && !one.isDone && (index === undefined || one.index === index));
    return found ?? this.start({ ...event, item: event.item ?? { type, id } });
  }

  private addText(open: OpenItem, kind: 'text' | 'refusal', delta: unknown, parts: ChatStreamPart[]): void {
    if (typeof delta !== 'string' || delta === '') return;
    const isNew = open.text === '' && open.refusal === '';
    const text = isNew && this.hasText ? SEPARATOR + delta : delta;
    this.hasText = true;
    open[kind] += delta;
    this.generated += delta.length;
    parts.push({ type: 'text', text });
  }

  private addReasoning(event: WireEvent, parts: ChatStreamPart[]): void {
    const open = this.itemOf(event, 'reasoning');
    const part =
      event.summary_index === undefined ? event.content_index : `summary ${JSON.stringify(event.summary_index)}`;
    // A server sends the summary or the text; of both, the first one counts.
    if (open.part !== undefined && typeof open.part !== typeof part) return;
    this.reason(open, event.delta, part, parts);
  }

  private reason(open: OpenItem, delta: unknown, part: unknown, parts: ChatStreamPart[]): void {
    if (typeof delta !== 'string' || delta === '') return;
    const text = this.hasReasoning && open.part !== part ? SEPARATOR + delta : delta;
    this.hasReasoning = true;
    open.part = part;
    open.reasoning += delta;
    this.generated += delta.length;
    parts.push({ type: 'reasoning', text });
  }

  private addArguments(open: OpenItem, delta: unknown): void {
    if (typeof delta !== 'string') return;
    open.arguments += delta;
    this.generated += delta.length;
  }

  /** The complete item; parts for content that no delta contained. */
  private finish(open: OpenItem, item: WireItem, parts: ChatStreamPart[]): void {
    if (open.isDone) return;
    open.item = item;
    open.isDone = true;
    if (open.reasoning === '') this.reason(open, reasoningText(item), 'whole', parts);
    if (open.text === '') this.addText(open, 'text', outputText(item), parts);
    if (open.refusal === '') this.addText(open, 'refusal', refusalText(item), parts);
    if (open.arguments === '') this.addArguments(open, item.arguments);
  }

  /** The received items for those of the whole response: by id, else by their order among the items of one type. */
  private received(output: readonly WireItem[]): readonly (OpenItem | undefined)[] {
    return output.map(({ id, type }, at) => {
      const known = this.open.find(({ item }) => id !== undefined && item.id === id);
      const earlier = output.slice(0, at).filter((item) => item.type === type).length;
      return known ?? this.open.filter(({ item }) => item.type === type)[earlier];
    });
  }

  /** @throws BadReplyError or StatusError for a response that failed */
  private end(response: WireResponse, parts: ChatStreamPart[]): void {
    assertReplied(response);
    const output = itemsOf(response.output);
    const received = this.received(output);
    for (const [at, item] of output.entries()) {
      this.finish(received[at] ?? this.start({ output_index: at, item }), item, parts);
    }
    if (isJsonObject(response.usage)) this.counts.add(toReportedUsage(response.usage), this.generated);
    this.response = response;
  }
}

/** The response of the event that ends it; the type of the event is its status. */
function toResponse({ type, response }: WireEvent): WireResponse {
  const given: WireResponse = isJsonObject(response) ? response : {};
  return { ...given, status: String(type).slice('response.'.length) };
}

/** The item; where its last event is missing or has no content, with the content of its deltas. */
function toItem(open: OpenItem): WireItem {
  const { item, reasoning, arguments: args, isDone } = open;
  if (item.type === 'function_call') return { ...item, arguments: args === '' ? item.arguments : args };
  if (reasoning !== '' && !isDone) return { type: 'reasoning', status: 'incomplete', summary: [{ text: reasoning }] };
  const content = streamedContent(open);
  if (content.length === 0 || (isDone && outputText(item) + refusalText(item) !== '')) return item;
  return { ...item, type: 'message', content };
}

function streamedContent({ text, refusal }: OpenItem): Readonly<Record<string, string>>[] {
  return [
    ...(text === '' ? [] : [{ type: 'output_text', text }]),
    ...(refusal === '' ? [] : [{ type: 'refusal', refusal }]),
  ];
}
