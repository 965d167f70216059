import { toAnswer } from './action.parser.js';

/** Possible first characters of a wrapped answer. */
const WRAPPED = /^[{"'`]/;

/** The visible answer: without blanks around it, and unwrapped if it was an action's input. */
export class VisibleTextBuilder {
  private blanks = '';
  private isEmpty = true;
  /** Whether blanks are dropped: at the start and after a label. */
  private isAtStart = true;
  private isInput = false;
  private held: string | null = null;

  get hasText(): boolean {
    return !this.isEmpty || this.held !== null;
  }

  /** The following text stands after a label. */
  beginAnswer(): void {
    this.isAtStart = true;
  }

  /** The following text is an action's input. It may be JSON and is then held until complete. */
  beginInput(): void {
    this.isInput = true;
  }

  /** @returns the newly visible text */
  add(piece: string): string {
    if (this.held !== null) {
      this.held += piece;
      return '';
    }
    const text = this.isAtStart ? piece.trimStart() : piece;
    if (text === '') return '';
    if (this.isEmpty && this.isInput && WRAPPED.test(text)) {
      this.held = text;
      return '';
    }
    this.isEmpty = false;
    this.isAtStart = false;
    const shown = text.trimEnd();
    if (shown === '') {
      this.blanks += text;
      return '';
    }
    const now = this.blanks + shown;
    this.blanks = text.slice(shown.length);
    return now;
  }

  end(): string {
    return this.held === null ? '' : toAnswer(this.held);
  }
}
