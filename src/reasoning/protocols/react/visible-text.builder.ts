import { toAnswer } from './action.parser.js';

/** What a value may begin with when the answer is wrapped in something. */
const WRAPPED = /^[{"'`]/;

/** The answer as it may be shown: without blanks around it, and unwrapped where it came as an action's input. */
export class VisibleTextBuilder {
  private blanks = '';
  private isEmpty = true;
  /** Blanks are dropped here: at the beginning, and behind a label. */
  private isAtStart = true;
  private isInput = false;
  private held: string | null = null;

  get hasText(): boolean {
    return !this.isEmpty || this.held !== null;
  }

  /** What comes now stands behind a label. */
  beginAnswer(): void {
    this.isAtStart = true;
  }

  /** From here on the text is an action's input, which may be JSON; it is then held until it is whole. */
  beginInput(): void {
    this.isInput = true;
  }

  /** @returns what of it may be shown now */
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
