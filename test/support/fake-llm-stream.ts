/** Everything that a stream gives, or what it throws. */
export async function readStream<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
