import type { AgUiEvent } from './ag-ui-event.types.js';
import { messageId } from './ag-ui-id.js';

const HALF_OF_PAIR = /[\uD800-\uDBFF]$/;

/**
 * The text messages of a run. A client cannot retract text: if a reply starts again with other text after a part of it was
 * sent, its message ends, and another one has the whole new text.
 */
export class TextMessageBuilder {
  private openId: string | null = null;
  private iteration = 0;
  /** The text of the open message. */
  private sent = '';
  /** How many UTF-16 units of `sent` the current attempt has repeated. */
  private repeated = 0;
  /** Text that is held back: blank, because a blank reply is requested again, or the first half of a surrogate pair. */
  private pending = '';
  /** The text of the last complete message. */
  private last = '';
  private readonly counts = new Map<number, number>();

  constructor(private readonly runId: string) {}

  /** @param isRestart whether the text starts a new attempt at the reply */
  append(iteration: number, text: string, isRestart = false): AgUiEvent[] {
    const before = iteration === this.iteration ? [] : this.end();
    this.iteration = iteration;
    if (isRestart) this.restart();
    const overlap = Math.min(text.length, this.sent.length - this.repeated);
    if (!this.sent.startsWith(text.slice(0, overlap), this.repeated)) {
      const attempt = this.sent.slice(0, this.repeated) + text;
      return [...before, ...this.end(), ...this.send(attempt)];
    }
    this.repeated += overlap;
    return [...before, ...this.send(text.slice(overlap))];
  }

  /** The complete text of a reply. @returns its events, and the id of its message */
  complete(iteration: number, text: string): { readonly events: AgUiEvent[]; readonly id: string } {
    const events = this.iteration === iteration && text.startsWith(this.sent) ? [] : this.end();
    this.iteration = iteration;
    this.pending = '';
    const rest = text.slice(this.sent.length);
    if (rest !== '' && (this.sent !== '' || text.trim() !== '')) events.push(...this.content(rest));
    if (text.trim() !== '') this.last = text;
    const id = this.openId ?? this.nextId();
    return { events: [...events, ...this.end()], id };
  }

  /** The answer of the run, which is the text of its last reply, unless the run took another one. */
  answer(text: string): AgUiEvent[] {
    if (text === this.last || text.trim() === '') return this.end();
    return this.complete(this.iteration, text).events;
  }

  /** A reply that another response has sent. */
  learn(iteration: number, text: string): void {
    this.nextIdOf(iteration);
    if (text.trim() !== '') this.last = text;
  }

  end(): AgUiEvent[] {
    const id = this.openId;
    this.openId = null;
    this.sent = '';
    this.restart();
    return id === null ? [] : [{ type: 'TEXT_MESSAGE_END', messageId: id }];
  }

  private restart(): void {
    this.repeated = 0;
    this.pending = '';
  }

  private send(text: string): AgUiEvent[] {
    this.pending += text;
    if (this.pending === '' || (this.sent === '' && this.pending.trim() === '')) return [];
    const isHalf = HALF_OF_PAIR.test(this.pending);
    const piece = isHalf ? this.pending.slice(0, -1) : this.pending;
    this.pending = isHalf ? this.pending.slice(-1) : '';
    return piece === '' ? [] : this.content(piece);
  }

  private content(delta: string): AgUiEvent[] {
    const events: AgUiEvent[] = [];
    if (this.openId === null) {
      this.openId = this.nextId();
      events.push({ type: 'TEXT_MESSAGE_START', messageId: this.openId, role: 'assistant' });
    }
    this.sent += delta;
    this.repeated = this.sent.length;
    return [...events, { type: 'TEXT_MESSAGE_CONTENT', messageId: this.openId, delta }];
  }

  private nextId(): string {
    return this.nextIdOf(this.iteration);
  }

  private nextIdOf(iteration: number): string {
    const n = (this.counts.get(iteration) ?? 0) + 1;
    this.counts.set(iteration, n);
    return messageId(this.runId, iteration, n);
  }
}
