const encoder = new TextEncoder();

/**
 * Truncates a text to `maxBytes` bytes of UTF-8, at a character boundary, and appends a mark. A shorter text stays
 * unchanged.
 */
export function cutText(text: string, maxBytes: number): string {
  // Fast path: a UTF-16 unit has at most 3 bytes of UTF-8.
  if (text.length * 3 <= maxBytes) return text;
  const total = Buffer.byteLength(text);
  if (total <= maxBytes) return text;
  const { read, written } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return `${text.slice(0, read)}… [cut: ${written} of ${total} bytes shown]`;
}
