import { pino, type DestinationStream } from 'pino';

/** Maximum size of the buffer, in UTF-16 units; a longer buffer is flushed at once. */
const MAX_BUFFERED = 16_384;

/**
 * Destination of the log, by default standard output. It writes once per turn of the event loop, because a write per
 * line costs more than the line. The buffer is flushed when the process exits, also after an uncaught error.
 */
export function createTurnLog(stream: DestinationStream = pino.destination({ dest: 1, sync: true })): FlushedStream {
  let buffer = '';
  let isDue = false;
  const flushSync = (): void => {
    const lines = buffer;
    buffer = '';
    if (lines !== '') stream.write(lines);
  };
  process.once('exit', flushSync);
  return {
    write(line) {
      buffer += line;
      if (buffer.length >= MAX_BUFFERED) flushSync();
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
  /** Flushes the buffer; pino calls it after a fatal error. */
  flushSync(): void;
}
