import { readFileSync } from 'node:fs';

const MARK = 0xfeff;
const UTF16 = 'it is UTF-16, and only UTF-8 is read: save it as UTF-8';

/** The text without a leading byte order mark (U+FEFF). Only one is removed: a second one is part of the text. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === MARK ? text.slice(1) : text;
}

/** The text without any of these characters at its end. Linear in the length, unlike `/[…]+$/`. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/**
 * Decodes UTF-8 and removes a leading byte order mark. Invalid bytes become U+FFFD.
 * @throws Error for UTF-16 or UTF-32, with or without a byte order mark
 */
export function decodeText(bytes: Uint8Array): string {
  if (isWide(bytes)) throw new Error(UTF16);
  return withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
}

/**
 * Reads a whole text file as `decodeText` does.
 * @throws Error if the file cannot be read or is UTF-16
 */
export function readText(path: string): string {
  return decodeText(readFileSync(path));
}

/** FF FE and FE FF are the marks of UTF-16. Without a mark, its first character (ASCII in all our formats) has a NUL byte. */
function isWide([first, second]: Uint8Array): boolean {
  if (first === undefined || second === undefined) return false;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || first === 0 || second === 0;
}
