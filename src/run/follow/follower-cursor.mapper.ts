import type { MessageDelta, StepRestarted } from '../run-event.types.js';
import { RunItem } from '../run-item.factory.js';
import type { RunPlace } from './run-place.parser.js';

type TextEvent = MessageDelta | StepRestarted;

/** Where one follower is in what a run tells: makes of all that comes what this follower must still be told. */
export class FollowerCursor {
  private last: number;
  private attempt: number;
  private offset: number;
  /** Whether it may hold text of an attempt that it could not name: it came with the number of an event. */
  private mayHoldText: boolean;
  /** The number of the event that completed the last message it knows; text from before it is of no use. */
  private completed = 0;

  /**
   * @param hearsAll whether it is told of every restart; over a bus, text may come before word that the text before it is void
   */
  constructor(
    { n, attempt, offset }: RunPlace,
    private readonly hearsAll: boolean,
  ) {
    this.last = n;
    this.attempt = attempt;
    this.offset = offset;
    this.mayHoldText = n > 0 && attempt === 0;
  }

  /** The number of the last journaled event that the follower has. */
  get n(): number {
    return this.last;
  }

  /**
   * What of an item the follower must be told: the item, the rest of its text, or nothing.
   * @param replaces whether text that the follower may have of this message is void
   */
  take(item: RunItem, replaces = !this.hearsAll || item.event.type === 'step.restarted'): RunItem | null {
    const { n, event, place } = item;
    if (n !== null) return this.takeJournaled(item, n);
    if (event.type === 'message.delta' || event.type === 'step.restarted') return this.takeText(item, event, replaces);
    return place.n < this.last ? null : item;
  }

  private takeJournaled(item: RunItem, n: number): RunItem | null {
    if (n <= this.last) return null;
    this.last = n;
    if (item.event.type !== 'message.completed') return item;
    this.completed = n;
    this.offset = 0;
    this.mayHoldText = false;
    return item;
  }

  private takeText(item: RunItem, event: TextEvent, replaces: boolean): RunItem | null {
    const { n, attempt, offset } = item.place;
    if (n < this.completed || attempt < this.attempt) return null;
    const isSame = attempt === this.attempt;
    const has = isSame ? this.offset : 0;
    const start = offset - event.text.length;
    // The bus has lost what is between; the whole message will come.
    if (start > has) return null;
    const isRestart = !isSame && (this.offset > 0 || (this.mayHoldText && replaces));
    this.attempt = attempt;
    this.offset = Math.max(offset, has);
    this.mayHoldText = false;
    return this.tell(item, event, event.text.slice(has - start), isRestart);
  }

  /** The item itself where it says just that, since its JSON is made once for all followers. */
  private tell(item: RunItem, event: TextEvent, text: string, isRestart: boolean): RunItem | null {
    if (text === '' && !isRestart) return null;
    const type = isRestart ? 'step.restarted' : 'message.delta';
    if (event.type === type && event.text === text && item.place.n === this.last) return item;
    const { iteration } = event;
    return new RunItem(null, item.at, { type, iteration, text }, undefined, { ...item.place, n: this.last });
  }
}
