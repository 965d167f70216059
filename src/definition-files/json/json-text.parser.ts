/** A JSON syntax error with its position. */
export class JsonTextError extends Error {
  constructor(
    /** In UTF-16 units, from 0. */
    readonly offset: number,
    message: string,
  ) {
    super(message);
    this.name = 'JsonTextError';
  }
}

const MAX_DEPTH = 32;
const MAX_VALUES = 10_000;

/** Position of a value: of a member its name, of an item its first character. */
export interface JsonPlace {
  readonly offset: number;
  /** Positions of its members or items. */
  readonly inner: Map<PropertyKey, JsonPlace>;
}

export interface JsonText {
  readonly value: unknown;
  readonly place: JsonPlace;
}

/**
 * Parses JSON (RFC 8259) with the position of each value. Duplicate members and `__proto__` are rejected.
 * @throws JsonTextError for the first syntax error, or beyond the limits
 */
export function parseJsonText(text: string, maxValues = MAX_VALUES): JsonText {
  return new TextReader(text, maxValues).read();
}

/** Offset of the value at a path, or of the nearest existing value around it. */
export function offsetOf(place: JsonPlace, path: readonly PropertyKey[]): number {
  let at = place;
  for (const key of path) {
    const inner = at.inner.get(key);
    if (!inner) break;
    at = inner;
  }
  return at.offset;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

class TextReader {
  private at = 0;
  private count = 0;

  constructor(
    private readonly text: string,
    private readonly maxValues: number,
  ) {}

  read(): JsonText {
    this.skipSpace();
    const place = placeAt(this.at);
    const value = this.readValue(place, 0);
    this.skipSpace();
    if (this.at < this.text.length) this.fail('expected the end of the file');
    return { value, place };
  }

  private readValue(place: JsonPlace, depth: number): unknown {
    if (depth > MAX_DEPTH) this.fail(`values are nested more than ${MAX_DEPTH} deep`);
    if (++this.count > this.maxValues) this.fail(`there are more than ${this.maxValues} values`);
    switch (this.text.charAt(this.at)) {
      case '{':
        return this.readObject(place, depth);
      case '[':
        return this.readArray(place, depth);
      case '"':
        return this.readString();
      default:
        return this.readWord();
    }
  }

  private readObject(place: JsonPlace, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.readEach('}', () => {
      const offset = this.at;
      if (this.text[offset] !== '"') this.fail('expected the name of a member, in double quotes');
      const name = this.readString();
      if (name === '__proto__') this.fail('the name __proto__ is refused', offset);
      if (place.inner.has(name)) this.fail(`${JSON.stringify(name)} is there twice`, offset);
      this.skipSpace();
      if (this.text[this.at] !== ':') this.fail('expected :');
      this.at++;
      this.skipSpace();
      const inner = placeAt(offset);
      place.inner.set(name, inner);
      object[name] = this.readValue(inner, depth + 1);
    });
    return object;
  }

  private readArray(place: JsonPlace, depth: number): unknown[] {
    const items: unknown[] = [];
    this.readEach(']', () => {
      const inner = placeAt(this.at);
      place.inner.set(items.length, inner);
      items.push(this.readValue(inner, depth + 1));
    });
    return items;
  }

  /** Reads a comma-separated list up to its closing bracket. */
  private readEach(end: string, readOne: () => void): void {
    this.at++;
    this.skipSpace();
    if (this.text[this.at] === end) return void this.at++;
    for (;;) {
      readOne();
      this.skipSpace();
      const next = this.text[this.at];
      if (next !== ',' && next !== end) this.fail(`expected , or ${end}`);
      this.at++;
      if (next === end) return;
      this.skipSpace();
    }
  }

  private readString(): string {
    const begin = this.at;
    let end = begin + 1;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) this.fail('the text that begins here has no end: expected "');
    this.at = end + 1;
    try {
      return JSON.parse(this.text.slice(begin, this.at)) as string;
    } catch {
      return this.fail(
        'a text in which a line ends, or with an escape that there is not: expected \\n, \\", \\\\',
        begin,
      );
    }
  }

  private readWord(): unknown {
    for (const [word, value] of WORDS) {
      if (!this.text.startsWith(word, this.at)) continue;
      this.at += word.length;
      return value;
    }
    NUMBER.lastIndex = this.at;
    const number = NUMBER.exec(this.text)?.[0];
    if (number === undefined)
      return this.fail('expected a value: {, [, a text in double quotes, a number, true, false or null');
    this.at += number.length;
    return Number(number);
  }

  private skipSpace(): void {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = SPACE.lastIndex;
  }

  private fail(message: string, offset = Math.min(this.at, this.text.length)): never {
    throw new JsonTextError(offset, message);
  }
}

function placeAt(offset: number): JsonPlace {
  return { offset, inner: new Map() };
}
