/**
 * Whether a text is base64 of RFC 4648, section 4, or empty; white space and the length are not checked.
 *
 * Both functions search for another character. In a process with much compiled code V8 compiles regular expressions
 * without optimization, and then `^[…]+$` stores every position: it throws a RangeError from 4.2 million characters.
 */
export function isBase64(text: string): boolean {
  return !/[^A-Za-z0-9+/]/.test(withoutEnd(text));
}

/** Whether a text is base64 of RFC 4648, section 5 (the URL alphabet), or empty. */
export function isBase64Url(text: string): boolean {
  return !/[^A-Za-z0-9_-]/.test(withoutEnd(text));
}

/** @returns the text without up to two characters of padding */
function withoutEnd(text: string): string {
  return text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
}
