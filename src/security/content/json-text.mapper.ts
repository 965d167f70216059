/** Replacements for the values of a JSON text; both functions return their argument if nothing changes. */
export interface JsonLeaves {
  /** @param value a string or an object key, decoded */
  text(value: string): string;
  /** @param source a number as written; returns JSON */
  number(source: string): string;
}

/** Start of a JSON object or array. A Markdown link does not match. */
const START = /^\s{0,32}(?:\{\s{0,32}["}]|\[\s{0,32}(?:[\][{"\d-]|true|false|null))/;
const MAY_START = /^\s{0,32}(?:[{[]\s{0,32}[a-z]{0,4})?$/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const COLON = /\s*:/y;
const [QUOTE, BACKSLASH, OPEN, CLOSE, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x7b, 0x7d, 0x2d, 0x30, 0x39];

/** Whether a text can be a JSON object or array, by its start; undefined if the start is too short to decide. */
export function startsAsJson(text: string): boolean | undefined {
  if (START.test(text)) return true;
  return MAY_START.test(text) ? undefined : false;
}

/** Whether a text is a JSON object or array. */
export function isJsonText(text: string): boolean {
  if (!startsAsJson(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Replaces strings, object keys and numbers of a JSON text. All other characters stay unchanged: without a replacement
 * the text is byte-identical, and no number loses digits. Keys of an object with the same mask are numbered.
 * @param text valid JSON
 */
export function mapJsonText(text: string, leaves: JsonLeaves): string {
  const pieces: string[] = [];
  const objects: KeyNames[] = [];
  let copied = 0;
  for (const [start, end] of tokens(text)) {
    const token = text.slice(start, end);
    if (token === '{') objects.push(new KeyNames());
    else if (token === '}') objects.pop();
    else {
      const written = token.startsWith('"')
        ? stringOf(token, leaves, isKey(text, end) && objects.at(-1))
        : leaves.number(token);
      if (written === token) continue;
      pieces.push(text.slice(copied, start), written);
      copied = end;
    }
  }
  return pieces.join('') + text.slice(copied);
}

/** @param keys keys of the enclosing object, if the string is a key */
function stringOf(token: string, leaves: JsonLeaves, keys: KeyNames | false | undefined): string {
  const value = JSON.parse(token) as string;
  const mapped = leaves.text(value);
  const written = keys ? keys.name(value, mapped) : mapped;
  return written === value ? token : JSON.stringify(written);
}

/** Start and exclusive end of each brace, string and number. */
function* tokens(text: string): Generator<readonly [start: number, end: number]> {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    let end = at;
    if (unit === OPEN || unit === CLOSE) end = at + 1;
    else if (unit === QUOTE) end = endOfString(text, at);
    else if (unit === MINUS || (unit >= ZERO && unit <= NINE)) end = endOfNumber(text, at);
    if (end === at) continue;
    yield [at, end];
    at = end - 1;
  }
}

function endOfNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  NUMBER.test(text);
  return NUMBER.lastIndex;
}

/** Keys of one object: a masked key never takes the name of another key. */
export class KeyNames {
  /** By name, whether it is a mask. */
  private readonly taken = new Map<string, boolean>();

  name(key: string, mapped: string): string {
    const isMasked = mapped !== key;
    let free = mapped;
    // Two equal original keys stay equal.
    if (isMasked || this.taken.get(key)) for (let n = 2; this.taken.has(free); n++) free = `${mapped} ${n}`;
    this.taken.set(free, free !== key);
    return free;
  }
}

/** Index after the closing quote. */
function endOfString(text: string, open: number): number {
  let at = open + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isKey(text: string, end: number): boolean {
  COLON.lastIndex = end;
  return COLON.test(text);
}
