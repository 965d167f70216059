/** What many a library takes for the end of a line, Node.js' `readline` among them, and JSON allows in a text as it is. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** A message as the one line that a program reads, whatever it takes for the end of one. */
export function toLine(message: unknown): string {
  const json = JSON.stringify(message);
  return `${json.replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}
