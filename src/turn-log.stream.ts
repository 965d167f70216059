import { pino, type DestinationStream } from 'pino';

/** In UTF-16 units; as much is not kept waiting for the turn's end. */
const MAX_WAITING = 16_384;

/**
 * Where the log goes, by default standard output, with one write for the lines of each turn of the event loop: a write for each
 * takes longer than to make it. What waits when the process exits, by an uncaught error too, is written then.
 */
export function createTurnLog(stream: DestinationStream = pino.destination({ dest: 1, sync: true })): FlushedStream {
  let waiting = '';
  let isDue = false;
  const flushSync = (): void => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') stream.write(lines);
  };
  process.once('exit', flushSync);
  return {
    write(line) {
      waiting += line;
      if (waiting.length >= MAX_WAITING) flushSync();
      if (isDue) return;
      isDue = true;
      setImmediate(() => {
        isDue = false;
        flushSync();
      });
    },
    flushSync,
  };
}

interface FlushedStream extends DestinationStream {
  /** Writes what waits; pino does so after a fatal error. */
  flushSync(): void;
}
