/** Maximum time of a slice, and the time for other work after it, in ms. */
const SLICE_MS = 5;

/**
 * Maps items in slices of a few milliseconds, with as much time for other work of the process between them. One item is
 * never divided.
 * @param signal ends the work between two items; the promise rejects with its reason
 */
export async function mapInSlices<T, R>(
  items: Iterable<T>,
  map: (item: T, at: number) => R,
  signal?: AbortSignal,
): Promise<R[]> {
  const mapped: R[] = [];
  let end = performance.now() + SLICE_MS;
  for (const item of items) {
    if (performance.now() > end) {
      await new Promise((resolve) => setTimeout(resolve, SLICE_MS));
      signal?.throwIfAborted();
      end = performance.now() + SLICE_MS;
    }
    mapped.push(map(item, mapped.length));
  }
  return mapped;
}
