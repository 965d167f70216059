import { RunItem } from '../run-item.factory.js';

/** A message that is being told: the text so far, of the attempt that runs now. */
export interface LiveMessage {
  readonly attempt: number;
  readonly iteration: number;
  /** The number of the last journaled event before its first word. */
  readonly begin: number;
  /** Whether text of an earlier attempt at it may have been told. */
  readonly isRestart: boolean;
  readonly text: string;
}

/** What a run that is executed now has told so far, folded from its items in the order in which they go out. */
export class LiveRun {
  /** The message that is being told; `null` between messages. */
  message: LiveMessage | null = null;
  private text: RunItem | null = null;

  /** @param told the number of the last journaled event that has gone out */
  constructor(public told: number) {}

  apply({ n, event, place }: RunItem): void {
    this.text = null;
    if (n !== null) {
      this.told = n;
      if (event.type === 'message.completed') this.message = null;
    } else if (event.type === 'message.delta' && this.message?.attempt === place.attempt) {
      this.message = { ...this.message, text: this.message.text + event.text };
    } else if (event.type === 'message.delta' || event.type === 'step.restarted') {
      const { iteration, text } = event;
      // What was told before was not completed.
      const isRestart = event.type === 'step.restarted' || this.message !== null;
      this.message = { attempt: place.attempt, iteration, begin: place.n, isRestart, text };
    }
  }

  /** The text so far, as an item for a follower that comes late, here or on another node; `null` between messages. */
  soFar(): RunItem | null {
    if (this.text || !this.message) return this.text;
    const { attempt, iteration, text } = this.message;
    const place = { n: this.told, attempt, offset: text.length };
    return (this.text = new RunItem(null, Date.now(), { type: 'step.restarted', iteration, text }, undefined, place));
  }
}
