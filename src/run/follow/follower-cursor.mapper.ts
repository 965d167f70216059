import type { MessageDelta, StepRestarted } from '../event/run-event.types.js';
import { RunItem, type RunPlace } from '../event/run-item.factory.js';

type TextEvent = MessageDelta | StepRestarted;

/** The position of one follower in a run's items: reduces each item to the part that this follower lacks. */
export class FollowerCursor {
  private last: number;
  private attempt: number;
  private offset: number;
  /** Whether it may have text of an unknown attempt: it reconnected with an event's number. */
  private mayHoldText: boolean;
  /** The number of the last `message.completed` event; text before it is obsolete. */
  private completed = 0;

  /**
   * @param hearsAll whether it receives every restart; over a bus, new text may arrive before the restart that voids
   *   the old text
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
   * The part of an item that the follower lacks: the item, the rest of its text, or `null`.
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
    // The bus has lost the text in between; the whole message will follow.
    if (start > has) return null;
    const isRestart = !isSame && (this.offset > 0 || (this.mayHoldText && replaces));
    this.attempt = attempt;
    this.offset = Math.max(offset, has);
    this.mayHoldText = false;
    return this.textItem(item, event, event.text.slice(has - start), isRestart);
  }

  /** Reuses the item if nothing changes, since its JSON is serialised once for all followers. */
  private textItem(item: RunItem, event: TextEvent, text: string, isRestart: boolean): RunItem | null {
    if (text === '' && !isRestart) return null;
    const type = isRestart ? 'step.restarted' : 'message.delta';
    if (event.type === type && event.text === text && item.place.n === this.last) return item;
    const { iteration } = event;
    return new RunItem(null, item.at, { type, iteration, text }, undefined, { ...item.place, n: this.last });
  }
}
