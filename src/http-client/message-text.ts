import type { RunEvent } from './generated/operations.js';

/** Folds run events into the text of the current message. */
export class MessageText {
  text = '';
  private isComplete = false;

  take(event: RunEvent): void {
    if (event.type === 'message.delta') this.set((this.isComplete ? '' : this.text) + event.text, false);
    else if (event.type === 'step.restarted') this.set(event.text, false);
    else if (event.type === 'message.completed') this.set(event.text, true);
    else if (event.type === 'run.completed' || event.type === 'run.cancelled') this.set(event.result, true);
  }

  private set(text: string, isComplete: boolean): void {
    this.text = text;
    this.isComplete = isComplete;
  }
}
