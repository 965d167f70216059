const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;

/** The most values that one message may hold: each takes some hundred bytes when it is read, though it be sent as two. */
export const MAX_VALUES = 500_000;

/** Counts the values of a JSON text before it is read, wherever it is cut into chunks. */
export class ValueCounter {
  /** Lists, objects, and what comes after a comma; those in strings are none. */
  values = 0;
  private isInString = false;
  private isEscaped = false;

  count(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.isInString) this.passString(byte);
      else if (byte === QUOTE) this.isInString = true;
      else if (byte === COMMA || byte === OPENING_BRACKET || byte === OPENING_BRACE) this.values++;
    }
  }

  /** A string has no line break; where there is one, the text was none of JSON. */
  private passString(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE || byte === LINE_FEED) this.isInString = false;
  }
}
