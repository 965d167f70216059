import type { DataSource } from 'typeorm';
import { isDoneWithin, untilAborted } from '../kernel/index.js';
import { readCancelled, readRefused, readTooLarge, readTooLong } from './read.error.js';
import type { ReadLimits } from './database-reader.js';

/** A source of received bytes. */
export interface ByteStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
}

/** A connection for one read. */
export interface ReadConnection<T> {
  readonly connection: T;
  readonly stream: ByteStream;
  /** Stops its statement on the server. */
  stop(): Promise<unknown>;
  /** Closes it at once; when it resolves, the pool has removed it. */
  destroy(): Promise<unknown>;
}

/** Grace time after the server's own limit, and for the stop itself, in ms. */
const GRACE_MS = 500;

/**
 * Uses a connection of the pool within the limits. If the time, the bytes or the signal end the read, the statement is
 * stopped on the server too, and the connection is discarded.
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
    // Releases a connection that arrives after the abort, unused.
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

async function guarded<T, R>(target: ReadConnection<T>, limits: ReadLimits, use: () => Promise<R>): Promise<R> {
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
  target.stream.on('data', count);
  try {
    return await Promise.race([use(), ended]);
  } catch (error) {
    // A late stop would hit the next read, so the connection is destroyed.
    if (isStopped) await stop(target);
    throw readRefused(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    target.stream.off('data', count);
  }
}

async function stop<T>(target: ReadConnection<T>): Promise<void> {
  await isDoneWithin(GRACE_MS, target.stop());
  await target.destroy();
}
