import { RunText, StreamRestartedError } from '../../agent/index.js';
import type { RunEvent } from '../../run/index.js';
import type { UiChunk } from './ui-chunk.types.js';

type TextEvent = Extract<RunEvent, { type: 'message.delta' | 'step.restarted' | 'message.completed' }>;

/** The text and reasoning parts of a message. A reply that starts again with other text becomes another part. */
export class UiTextParts {
  /** Whether the message has a text. */
  hasText = false;
  private text: RunText;
  /** Text of the current attempt at a reply. */
  private attempt = '';
  private openId: string | null = null;
  private count = 0;

  constructor(private readonly runId: string) {
    this.text = this.newText();
  }

  take(event: TextEvent): readonly UiChunk[] {
    this.attempt = event.type === 'message.delta' ? this.attempt + event.text : event.text;
    const chunks = this.follow(event);
    if (event.type !== 'message.completed') return chunks;
    this.attempt = '';
    return [...chunks, ...this.close()];
  }

  /** A text that is no reply of a model. */
  say(text: string): readonly UiChunk[] {
    return [...this.close(), ...this.append(text), ...this.close()];
  }

  reason(text: string): readonly UiChunk[] {
    const id = `reasoning-${++this.count}`;
    return [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta: text },
      { type: 'reasoning-end', id },
    ];
  }

  /** Ends the open part. */
  close(): readonly UiChunk[] {
    const id = this.openId;
    this.openId = null;
    this.text = this.newText();
    return id === null ? [] : [{ type: 'text-end', id }];
  }

  private follow(event: TextEvent): readonly UiChunk[] {
    try {
      return this.append(this.text.take(event));
    } catch (error) {
      if (!(error instanceof StreamRestartedError)) throw error;
      const whole = { type: 'step.restarted', iteration: event.iteration, text: this.attempt } as const;
      return [...this.close(), ...this.append(this.text.take(whole))];
    }
  }

  private append(delta: string): readonly UiChunk[] {
    if (delta === '') return [];
    this.hasText = true;
    if (this.openId !== null) return [{ type: 'text-delta', id: this.openId, delta }];
    const id = `text-${++this.count}`;
    this.openId = id;
    return [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta },
    ];
  }

  private newText(): RunText {
    return new RunText({ runId: this.runId, delivery: 'live' });
  }
}
