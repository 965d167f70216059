import { RunItem } from '../run-item.factory.js';

/** A message that is being streamed: the text so far of the current attempt. */
export interface LiveMessage {
  readonly attempt: number;
  readonly iteration: number;
  /** The number of the last journaled event before its first text. */
  readonly begin: number;
  /** Whether text of an earlier attempt may have been published. */
  readonly isRestart: boolean;
  readonly text: string;
}

/** The published state of a running run, folded from its items in the order of publication. */
export class LiveRun {
  /** The message being streamed; `null` between messages. */
  message: LiveMessage | null = null;
  private text: RunItem | null = null;

  /** @param last the number of the last published journaled event */
  constructor(public last: number) {}

  apply({ n, event, place }: RunItem): void {
    this.text = null;
    if (n !== null) {
      this.last = n;
      if (event.type === 'message.completed') this.message = null;
    } else if (event.type === 'message.delta' && this.message?.attempt === place.attempt) {
      this.message = { ...this.message, text: this.message.text + event.text };
    } else if (event.type === 'message.delta' || event.type === 'step.restarted') {
      const { iteration, text } = event;
      // An earlier text of this message was not completed.
      const isRestart = event.type === 'step.restarted' || this.message !== null;
      this.message = { attempt: place.attempt, iteration, begin: place.n, isRestart, text };
    }
  }

  /** The text so far, as an item for a late follower on any node; `null` between messages. */
  soFar(): RunItem | null {
    if (this.text || !this.message) return this.text;
    const { attempt, iteration, text } = this.message;
    const place = { n: this.last, attempt, offset: text.length };
    return (this.text = new RunItem(null, Date.now(), { type: 'step.restarted', iteration, text }, undefined, place));
  }
}
