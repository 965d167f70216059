import { TextParts, type TextStep } from '../text-parts.js';
import type { UiChunk } from './ui-chunk.types.js';

/** The text and reasoning parts of a message. */
export class UiTextParts {
  /** Whether the message has a text. */
  hasText = false;
  private readonly parts: TextParts;
  private id = '';
  private count = 0;

  constructor(runId: string) {
    this.parts = new TextParts(runId);
  }

  take(event: Parameters<TextParts['take']>[0]): readonly UiChunk[] {
    return this.map(this.parts.take(event));
  }

  /** A text that is no reply of a model. */
  say(text: string): readonly UiChunk[] {
    return this.map(this.parts.say(text));
  }

  /** Ends the open part. */
  close(): readonly UiChunk[] {
    return this.map(this.parts.close());
  }

  reason(text: string): readonly UiChunk[] {
    const id = `reasoning-${++this.count}`;
    return [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta: text },
      { type: 'reasoning-end', id },
    ];
  }

  private map(steps: readonly TextStep[]): readonly UiChunk[] {
    return steps.map((step): UiChunk => {
      if (step.kind === 'delta') return { type: 'text-delta', id: this.id, delta: step.text };
      if (step.kind === 'end') return { type: 'text-end', id: this.id };
      this.hasText = true;
      this.id = `text-${++this.count}`;
      return { type: 'text-start', id: this.id };
    });
  }
}
