import type { RunEvent } from '../run-event.types.js';
import { RunItem } from '../run-item.factory.js';

/** Length of a piece of text for a slow reader, in UTF-16 units. */
const PIECE = 65_536;

/** Splits a long text event into equivalent shorter ones, made one by one as they are read. */
export function* textPieces({ event, at, place }: RunItem): Generator<RunItem, void> {
  if (event.type !== 'message.delta' && event.type !== 'step.restarted') return;
  const { text, iteration } = event;
  for (let start = 0; start === 0 || start < text.length; start += PIECE) {
    const end = Math.min(start + PIECE, text.length);
    const type = start === 0 ? event.type : 'message.delta';
    const offset = place.offset - text.length + end;
    yield new RunItem(null, at, { type, iteration, text: text.slice(start, end) }, undefined, { ...place, offset });
  }
}

/**
 * Splits a text event into equivalent shorter ones, for a bus that carries only short messages. Other items are
 * unchanged.
 * @param longest maximum length of an event's JSON, in UTF-16 units; more than a few hundred
 */
export function inPieces(item: RunItem, longest: number): RunItem[] {
  const { event, at, place } = item;
  const isText = event.type === 'message.delta' || event.type === 'step.restarted';
  if (!isText || item.data.length <= longest) return [item];
  const half = Math.ceil(event.text.length / 2);
  const first: RunEvent = { ...event, text: event.text.slice(0, half) };
  const second: RunEvent = { type: 'message.delta', iteration: event.iteration, text: event.text.slice(half) };
  const middle = { ...place, offset: place.offset - second.text.length };
  return [
    ...inPieces(new RunItem(null, at, first, undefined, middle), longest),
    ...inPieces(new RunItem(null, at, second, undefined, place), longest),
  ];
}
