import type { OutputItem, ResponseEvent } from './response.types.js';

/** Sequence numbers for each journaled event: the events that it becomes, and those of the text after it. */
export const UNIT = 10_000_000;
/** Numbers of the events that open the message after a journaled event; those of its text follow, by its length. */
export const OPENING = 500;
export const TEXT = 1_000;
/** Numbers of the events that open a response, after the event of the wait before it. */
export const START = UNIT - 10;

/** The message that a client has in part: the event before it, and the length of its text. */
export function partialOf(startingAfter: number | undefined): { readonly n: number; readonly sent: number } | null {
  const place = (startingAfter ?? 0) % UNIT;
  if (startingAfter === undefined || place < OPENING || place >= START) return null;
  return { n: Math.floor(startingAfter / UNIT), sent: Math.max(0, place - TEXT) };
}

type ItemOf<Type extends OutputItem['type']> = Extract<OutputItem, { type: Type }>;

/** A message that is being streamed. */
export interface OpenMessage {
  readonly index: number;
  readonly id: string;
  /** Length of the text so far, in UTF-16 units. */
  sent: number;
  /** Length of the text that the client had before this stream. */
  readonly known: number;
}

export function partOf({ id, index }: OpenMessage) {
  return { item_id: id, output_index: index, content_index: 0 };
}

export function toText(text: string) {
  return { type: 'output_text', text, annotations: [], logprobs: [] } as const;
}

export function toCall(
  id: string,
  name: string,
  args: string,
  outcome: Pick<ItemOf<'mcp_call'>, 'status' | 'output' | 'error'>,
): ItemOf<'mcp_call'> {
  const call = { type: 'mcp_call', id, server_label: 'jackdaw', name, arguments: args } as const;
  return { ...call, approval_request_id: null, ...outcome };
}

/** The items of a response, and the numbers of its events. */
export abstract class ResponseItems {
  protected readonly output: OutputItem[] = [];
  /** Of the next event, after the last journaled event of the run. */
  protected next = 0;

  /** @param last number of the last journaled event */
  constructor(protected last: number) {}

  /** Adds an item that is complete at once. @param between events about its parts */
  protected whole(
    item: OutputItem,
    initial: OutputItem,
    between: readonly (readonly [type: string, members: object])[],
  ): readonly ResponseEvent[] {
    const index = this.output.push(item) - 1;
    const place = { item_id: item.id, output_index: index };
    return [
      this.event('output_item.added', { output_index: index, item: initial }),
      ...between.map(([type, members]) => this.event(type, { ...place, ...members })),
      this.event('output_item.done', { output_index: index, item }),
    ];
  }

  protected event(type: string, members: object): ResponseEvent {
    return { type: `response.${type}`, sequence_number: this.last * UNIT + this.next++, ...members };
  }
}
