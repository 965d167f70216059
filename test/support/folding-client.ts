import type { RunEvent, RunItem } from '../../src/run/event/index.js';
import { endsStream } from '../../src/run/event/run-event.types.js';

/**
 * Folds run events by three rules: a delta is appended, a restart replaces the text, a completed message is its text.
 */
export class FoldingClient {
  /** The id for a reconnect. */
  lastEventId: string | null = null;
  readonly journaled: { readonly n: number; readonly event: RunEvent }[] = [];
  /** Each completed message, with the text that was streamed before. */
  readonly messages: { readonly text: string; readonly received: string }[] = [];
  /** The text of the current message. */
  text = '';
  restarts = 0;

  take({ id, n, event }: Pick<RunItem, 'id' | 'n' | 'event'>): void {
    if (n !== null) this.journaled.push({ n, event });
    this.lastEventId = id ?? this.lastEventId;
    if (event.type === 'message.delta') this.text += event.text;
    else if (event.type === 'step.restarted') this.restart(event.text);
    else if (event.type === 'message.completed') this.complete(event.text);
    else if (endsStream(event) && event.type !== 'stream.closed') this.text = '';
  }

  private restart(text: string): void {
    this.restarts++;
    this.text = text;
  }

  private complete(text: string): void {
    this.messages.push({ text, received: this.text });
    this.text = '';
  }
}
