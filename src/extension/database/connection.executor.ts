import type { DataSource } from 'typeorm';
import { isDoneWithin, untilAborted } from '../../common/index.js';
import { readCancelled, readRefused, readTooLarge, readTooLong } from './read.error.js';
import type { ReadLimits } from './database-reader.js';

/** Where bytes come from. */
export interface ByteStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
}

/** A connection as one read uses it. */
export interface ReadConnection<T> {
  readonly connection: T;
  readonly stream: ByteStream;
  /** Ends what it does, on the server. */
  stop(): Promise<unknown>;
  /** Closes it at once; the pool knows when it resolves. */
  destroy(): Promise<unknown>;
}

/** How long after the server's own limit it is stopped from outside, and how long it may then take, in ms. */
const GRACE_MS = 500;

/**
 * Uses a connection of the pool, within the limits: when time, bytes or the signal end the read, it is ended on the server too, and
 * the connection is not used again.
 */
export async function onConnection<T, R>(
  source: DataSource,
  limits: ReadLimits,
  wrap: (connection: T) => ReadConnection<T>,
  use: (connection: T) => Promise<R>,
): Promise<R> {
  const runner = source.createQueryRunner('slave');
  const connected = runner.connect() as Promise<T>;
  const connection = await untilAborted(connected, limits.signal).catch((error: unknown) => {
    // Whoever comes too late gives it back unused.
    connected.then(
      () => runner.release(),
      () => undefined,
    );
    throw limits.signal.aborted ? readCancelled() : readRefused(error);
  });
  try {
    return await guarded(wrap(connection), limits, () => use(connection));
  } finally {
    await runner.release();
  }
}

async function guarded<T, R>(held: ReadConnection<T>, limits: ReadLimits, use: () => Promise<R>): Promise<R> {
  const { signal, timeoutMs, maxBytes } = limits;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  let isStopped = false;
  const end = (error: Error) => {
    isStopped = true;
    reject(error);
  };
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) end(readTooLarge(maxBytes));
  };
  const cancel = () => end(readCancelled());
  const timer = setTimeout(() => end(readTooLong(timeoutMs)), timeoutMs + GRACE_MS);
  signal.addEventListener('abort', cancel, { once: true });
  held.stream.on('data', count);
  try {
    return await Promise.race([use(), ended]);
  } catch (error) {
    // A stop that comes late would meet the next read: this connection has none.
    if (isStopped) await stop(held);
    throw readRefused(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    held.stream.off('data', count);
  }
}

async function stop<T>(held: ReadConnection<T>): Promise<void> {
  await isDoneWithin(GRACE_MS, held.stop());
  await held.destroy();
}
