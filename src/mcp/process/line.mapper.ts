/**
 * Characters that many libraries, such as Node's `readline`, treat as a line end, and that JSON allows unescaped in
 * strings.
 */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** Converts a message to one line of JSON, for any definition of a line end. */
export function toLine(message: unknown): string {
  const json = JSON.stringify(message);
  return `${json.replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}
