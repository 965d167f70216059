/** Length of a preview, in UTF-16 units. */
const MAX_LENGTH = 200;

/**
 * The start of a run's question, up to 200 UTF-16 units, without half a surrogate pair; text that every database stores
 * unchanged.
 */
export function toPreview(question: string): string {
  const isPair = isHigh(question.charCodeAt(MAX_LENGTH - 1)) && question.length > MAX_LENGTH;
  const start = question.slice(0, isPair ? MAX_LENGTH - 1 : MAX_LENGTH);
  return start.toWellFormed().replaceAll('\0', '\ufffd');
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
