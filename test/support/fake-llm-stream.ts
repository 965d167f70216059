/** All parts of a stream. Rejects with the error of the stream. */
export async function readStream<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
