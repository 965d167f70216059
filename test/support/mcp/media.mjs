/** Bytes that are no text, the same for each call. @param start the first bytes, which identify a format */
export function binary(length, start = '') {
  const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) % 256));
  bytes.write(start, 'latin1');
  return bytes;
}

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
