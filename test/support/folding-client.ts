import type { RunEvent, RunItem } from '../../src/run/index.js';
import { endsStream } from '../../src/run/run-event.types.js';

/** What a client makes of a run's events by three rules: a delta is appended, a restart replaces, a completed message is its text. */
export class FoldingClient {
  /** The place that it would come back with. */
  lastEventId: string | null = null;
  readonly journaled: { readonly n: number; readonly event: RunEvent }[] = [];
  /** Each completed message, and what had been told of it before. */
  readonly messages: { readonly text: string; readonly told: string }[] = [];
  /** Of the message that is being told. */
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
    this.messages.push({ text, told: this.text });
    this.text = '';
  }
}
