/** Encodes the direction of a vector as base64 of 32-bit floats, in the byte order of all supported machines. */
export function encodeVector(vector: readonly number[]): string {
  return Buffer.from(toDirection(vector).buffer).toString('base64');
}

export function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  // Copied, since the offset of a Buffer need not be aligned for floats.
  const vector = new Float32Array(bytes.length >> 2);
  new Uint8Array(vector.buffer).set(bytes.subarray(0, vector.byteLength));
  return vector;
}

/** The vector scaled to length 1; a zero vector stays zero. */
export function toDirection(vector: readonly number[]): Float32Array<ArrayBuffer> {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : 0));
}

/** The cosine of the angle between two directions; 0 if their dimensions differ. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}
