/** Maximum length of a checked text, in UTF-16 units. Longer texts are rare in a reply, so a parser error is cheap. */
const SHORT = 1_000;

const SPACE = String.raw`[ \t\n\r]*`;
const STRING = String.raw`"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const SCALAR = String.raw`${SPACE}(?:${STRING}|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)${SPACE}`;
const KEY = `${SPACE}${STRING}${SPACE}:`;
const FLAT_OBJECT = String.raw`\{(?:${SPACE}|${KEY}${SCALAR}(?:,${KEY}${SCALAR})*)\}`;
const FLAT_ARRAY = String.raw`\[(?:${SPACE}|${SCALAR}(?:,${SCALAR})*)\]`;
/** A value without nested values, or with scalars only. */
const LEAF = new RegExp(`${SCALAR}|${SPACE}(?:${FLAT_OBJECT}|${FLAT_ARRAY})${SPACE}`, 'y');
const OBJECT = { start: bracket('{'), key: new RegExp(KEY, 'y'), end: bracket('}') };
const ARRAY = { start: bracket('['), key: /(?:)/y, end: bracket(']') };

/**
 * Whether parsing the text is worthwhile. A parser error costs ten times as much as this check. A hostile reply may
 * hold a hundred thousand texts that are not JSON.
 */
export function mayBeJson(text: string): boolean {
  if (text.length > SHORT) return true;
  const reader = new JsonReader(text);
  return reader.readValue() && reader.isAtEnd;
}

class JsonReader {
  private at = 0;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at === this.text.length;
  }

  /** @returns whether a value follows */
  readValue(): boolean {
    if (this.skip(LEAF)) return true;
    if (this.skip(OBJECT.start)) return this.readRest(OBJECT);
    return this.skip(ARRAY.start) && this.readRest(ARRAY);
  }

  private readRest({ key, end }: typeof OBJECT): boolean {
    do {
      if (!this.skip(key) || !this.readValue()) return false;
    } while (this.skipComma());
    return this.skip(end);
  }

  private skipComma(): boolean {
    const isThere = this.text.charAt(this.at) === ',';
    if (isThere) this.at++;
    return isThere;
  }

  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const isThere = pattern.test(this.text);
    if (isThere) this.at = pattern.lastIndex;
    return isThere;
  }
}

function bracket(sign: string): RegExp {
  return new RegExp(`${SPACE}\\${sign}${SPACE}`, 'y');
}
