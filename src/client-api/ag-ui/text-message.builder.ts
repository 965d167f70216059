import type { RunEvent } from '../../run/event/index.js';
import { TextParts, type TextStep } from '../text-parts.js';
import type { AgUiEvent } from './ag-ui-event.types.js';
import { messageId } from './ag-ui-id.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** The text messages of a run. */
export class TextMessageBuilder {
  private readonly parts: TextParts;
  private iteration = 0;
  /** The id of the open or last message of the iteration; `null` before its first one. */
  private id: string | null = null;
  /** The text of the last complete message. */
  private last = '';
  private readonly counts = new Map<number, number>();

  constructor(private readonly runId: string) {
    this.parts = new TextParts(runId);
  }

  append(event: Event<'message.delta'> | Event<'step.restarted'>): AgUiEvent[] {
    return [...this.enter(event.iteration), ...this.map(this.parts.take(event))];
  }

  /** The complete reply. @returns its events, and the id of its message */
  complete(event: Event<'message.completed'>): { readonly events: AgUiEvent[]; readonly id: string } {
    const events = [...this.enter(event.iteration), ...this.map(this.parts.take(event))];
    if (event.text.trim() !== '') this.last = event.text;
    return { events, id: this.id ?? this.nextIdOf(event.iteration) };
  }

  /** The answer of the run, which is the text of its last reply, unless the run took another one. */
  answer(text: string): AgUiEvent[] {
    return text === this.last || text.trim() === '' ? this.end() : this.map(this.parts.say(text));
  }

  /** A reply that another response has sent. */
  learn(iteration: number, text: string): void {
    this.nextIdOf(iteration);
    if (text.trim() !== '') this.last = text;
  }

  end(): AgUiEvent[] {
    return this.map(this.parts.close());
  }

  /** A reply of another iteration has a message of its own. */
  private enter(iteration: number): AgUiEvent[] {
    if (iteration === this.iteration) return [];
    const events = this.end();
    this.iteration = iteration;
    this.id = null;
    return events;
  }

  private map(steps: readonly TextStep[]): AgUiEvent[] {
    return steps.map((step): AgUiEvent => {
      const id = this.id ?? '';
      if (step.kind === 'delta') return { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: step.text };
      if (step.kind === 'end') return { type: 'TEXT_MESSAGE_END', messageId: id };
      this.id = this.nextIdOf(this.iteration);
      return { type: 'TEXT_MESSAGE_START', messageId: this.id, role: 'assistant' };
    });
  }

  private nextIdOf(iteration: number): string {
    const n = (this.counts.get(iteration) ?? 0) + 1;
    this.counts.set(iteration, n);
    return messageId(this.runId, iteration, n);
  }
}
