const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;

/** Maximum JSON values of one message: a value of 2 bytes takes some 100 bytes of memory when parsed. */
export const MAX_VALUES = 500_000;

/** Counts the values of a JSON text before parsing; accepts any chunk boundaries. */
export class ValueCounter {
  /** Number of arrays, objects and elements after a comma, outside of strings. */
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

  /** JSON strings contain no line break; one ends the string, since the text is not JSON. */
  private passString(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE || byte === LINE_FEED) this.isInString = false;
  }
}
