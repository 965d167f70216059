import { RunText, StreamRestartedError } from '../agent/answer/index.js';
import type { RunEvent } from '../run/event/index.js';

type TextEvent = Extract<RunEvent, { type: 'message.delta' | 'step.restarted' | 'message.completed' }>;

/** A change of the text parts of a response. */
export type TextStep = { readonly kind: 'start' | 'end' } | { readonly kind: 'delta'; readonly text: string };

/**
 * The text parts of a response whose client cannot retract text. If a reply starts again with other text after a part of it
 * was sent, its part ends, and another part has the whole new text.
 */
export class TextParts {
  private text: RunText;
  /** Text of the current attempt at a reply. */
  private attempt = '';
  private isOpen = false;

  constructor(private readonly runId: string) {
    this.text = this.newText();
  }

  take(event: TextEvent): readonly TextStep[] {
    this.attempt = event.type === 'message.delta' ? this.attempt + event.text : event.text;
    const steps = this.follow(event);
    return event.type === 'message.completed' ? [...steps, ...this.close()] : steps;
  }

  /** A text that is no reply of a model. */
  say(text: string): readonly TextStep[] {
    return [...this.close(), ...this.append(text), ...this.close()];
  }

  /** Ends the open part. */
  close(): readonly TextStep[] {
    const wasOpen = this.isOpen;
    this.isOpen = false;
    this.attempt = '';
    this.text = this.newText();
    return wasOpen ? [{ kind: 'end' }] : [];
  }

  private follow(event: TextEvent): readonly TextStep[] {
    try {
      return this.append(this.text.take(event));
    } catch (error) {
      if (!(error instanceof StreamRestartedError)) throw error;
      const whole = { type: 'step.restarted', iteration: event.iteration, text: this.attempt } as const;
      const closed = this.close();
      this.attempt = whole.text;
      return [...closed, ...this.append(this.text.take(whole))];
    }
  }

  private append(text: string): readonly TextStep[] {
    if (text === '') return [];
    const opened: readonly TextStep[] = this.isOpen ? [] : [{ kind: 'start' }];
    this.isOpen = true;
    return [...opened, { kind: 'delta', text }];
  }

  private newText(): RunText {
    return new RunText({ runId: this.runId, delivery: 'live' });
  }
}
