const encoder = new TextEncoder();

/**
 * Gives a text whole when it has at most `maxBytes` bytes of UTF-8; else as many whole characters as fit, and a mark
 * that says so.
 */
export function cutText(text: string, maxBytes: number): string {
  // One UTF-16 unit is at most 3 bytes of UTF-8: most results need no counting.
  if (text.length * 3 <= maxBytes) return text;
  const total = Buffer.byteLength(text);
  if (total <= maxBytes) return text;
  const { read, written } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return `${text.slice(0, read)}… [cut: ${written} of ${total} bytes shown]`;
}
