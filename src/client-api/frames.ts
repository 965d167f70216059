import { toOpenAiError, toProblem } from '../errors/index.js';
import { isDoneWithin } from '../kernel/index.js';

/** Time for which a stream waits for its first frame, in ms: an error within it has its own HTTP status. */
const FIRST_FRAME_MS = 10_000;

/** A server-sent event in wire format. */
export function toFrame(data: object, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/**
 * Waits for the first frame, so that an early error has its own status. A later one is the last frame: clients throw it as
 * an error of the API.
 * @param toErrorFrame the last frame in the format of the client; default: OpenAI's
 * @throws the error of the first frame
 */
export async function begun(
  frames: AsyncGenerator<string, void>,
  toErrorFrame: (error: unknown) => string = openAiErrorFrame,
): Promise<AsyncGenerator<string, void>> {
  const first = frames.next();
  const settled = first.then(
    () => undefined,
    () => undefined,
  );
  if (await isDoneWithin(FIRST_FRAME_MS, settled)) await first;
  return startingWith(first, frames, toErrorFrame);
}

async function* startingWith(
  first: Promise<IteratorResult<string, void>>,
  frames: AsyncGenerator<string, void>,
  toErrorFrame: (error: unknown) => string,
): AsyncGenerator<string, void> {
  try {
    const { value, done } = await first;
    if (!done) yield value;
    yield* frames;
  } catch (error) {
    yield toErrorFrame(error);
  }
}

function openAiErrorFrame(error: unknown): string {
  return toFrame(toOpenAiError(toProblem(error)));
}
