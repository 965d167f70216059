/** A leniently parsed JSON object as strict JSON, and the text after it. */
export interface LooseObject {
  readonly json: string;
  readonly rest: string;
}

const MAX_DEPTH = 64;
/** Longer input is not repaired; the executor rejects it. */
const MAX_VALUES = 10_000;
const SPACE = /\s+/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_][\w-]*/y;
const WORDS = new Map(
  Object.entries({ true: 'true', false: 'false', null: 'null', True: 'true', False: 'false', None: 'null' }),
);
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”' };
/** Required after a closing single quote; otherwise the quote may be an apostrophe. */
const AFTER_QUOTE = /\s*(?:[,:}\]]|$)/y;

/**
 * Parses the object at the start of a text, tolerant of unambiguous errors: single and typographic quotes, line breaks
 * in strings, trailing commas, unquoted keys, Python's `True`, `False` and `None`. Null for other text.
 */
export function parseLooseObject(text: string): LooseObject | null {
  const reader = new LooseReader(text);
  if (!text.startsWith('{')) return null;
  const json = reader.readValue(0);
  return json === null ? null : { json, rest: text.slice(reader.at) };
}

/** Parses `key="value", other=3` as an object; null for other text. */
export function parseKeywords(text: string): string | null {
  const reader = new LooseReader(text);
  const json = reader.readMembers(1, '=', '');
  return json !== null && reader.at === text.length ? json : null;
}

class LooseReader {
  at = 0;
  private values = 0;

  constructor(private readonly text: string) {}

  readValue(depth: number): string | null {
    if (depth > MAX_DEPTH || ++this.values > MAX_VALUES) return null;
    this.skipSpace();
    const first = this.text[this.at] ?? '';
    if (first === '{') {
      this.at++;
      return this.readMembers(depth + 1, ':', '}');
    }
    if (first === '[') return this.readItems(depth + 1);
    if (first in QUOTES) return this.readString();
    return this.take(NUMBER) || (WORDS.get(this.take(WORD)) ?? null);
  }

  /** @param close the closing bracket, or the empty string for the end of the text */
  readMembers(depth: number, colon: string, close: string): string | null {
    const members: string[] = [];
    while (!this.ends(close)) {
      const key = this.readKey();
      this.skipSpace();
      if (key === null || !this.skip(colon, colon === ':' ? '：' : colon)) return null;
      const value = this.readValue(depth);
      if (value === null || !this.separates(close)) return null;
      members.push(`${key}:${value}`);
    }
    return `{${members.join(',')}}`;
  }

  private readItems(depth: number): string | null {
    this.at++;
    const items: string[] = [];
    while (!this.ends(']')) {
      const value = this.readValue(depth);
      if (value === null || !this.separates(']')) return null;
      items.push(value);
    }
    return `[${items.join(',')}]`;
  }

  private readKey(): string | null {
    this.skipSpace();
    if ((this.text[this.at] ?? '') in QUOTES) return this.readString();
    const word = this.take(WORD);
    return word === '' ? null : JSON.stringify(word);
  }

  private readString(): string | null {
    const open = this.text[this.at]!;
    const close = QUOTES[open]!;
    const start = this.at + 1;
    let end = start;
    while (end < this.text.length && this.text[end] !== close) end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) return null;
    this.at = end + 1;
    if (open !== '"' && !this.matches(AFTER_QUOTE)) return null;
    return toStrictString(this.text.slice(start, end), open);
  }

  private ends(close: string): boolean {
    this.skipSpace();
    return close === '' ? this.at >= this.text.length : this.skip(close, close);
  }

  /** Consumes a comma; the closing bracket is only checked. */
  private separates(close: string): boolean {
    this.skipSpace();
    if (this.skip(',', '，')) return true;
    return close === '' ? this.at >= this.text.length : this.text[this.at] === close;
  }

  private skip(one: string, other: string): boolean {
    const found = this.text[this.at];
    if (found !== one && found !== other) return false;
    this.at++;
    return true;
  }

  private take(pattern: RegExp): string {
    const from = this.at;
    if (this.matches(pattern)) this.at = pattern.lastIndex;
    return this.text.slice(from, this.at);
  }

  private skipSpace(): void {
    // Usually there is no space, and this check is faster than a search.
    const code = this.text.charCodeAt(this.at);
    if ((code <= 0x20 || code >= 0x80) && this.matches(SPACE)) this.at = SPACE.lastIndex;
  }

  private matches(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }
}

const RAW_IN_STRING = /\\[\s\S]|["\n\r\t]/g;
const ESCAPED = new Map([
  ['"', '\\"'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\\\n', '\\n'],
]);
const ESCAPES = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/g;
/** Characters that a JSON string must escape. */
const UNSAFE = /["\\]|[^ -\uffff]/;
const CONTROL = /[^ -\uffff\n\r\t]/;

/** The text of a JSON string, given without its quotes; null if the string is invalid. */
export function parseStringBody(body: string): string | null {
  if (!UNSAFE.test(body)) return body;
  return UNSAFE.test(body.replace(ESCAPES, '')) ? null : (JSON.parse(`"${body}"`) as string);
}

function toStrictString(body: string, quote: string): string | null {
  const text = body.includes('\\') ? parseStringBody(toStrictBody(body, quote)) : body;
  return text === null || CONTROL.test(body) ? null : JSON.stringify(text);
}

function toStrictBody(body: string, quote: string): string {
  return body.replace(RAW_IN_STRING, (found) =>
    found === '\\' + quote && quote !== '"' ? quote : (ESCAPED.get(found) ?? found),
  );
}
