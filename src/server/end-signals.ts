import cluster from 'node:cluster';
import type { Server } from 'node:http';

/** The signals that end the server after a drain. SIGHUP: the terminal was closed; SIGBREAK: Ctrl+Break on Windows. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'];

/**
 * In a worker of pm2 or node:cluster, closes the listener at the first of these signals: another worker has the port and
 * takes new connections, while this one finishes its work.
 */
export function closeListenerInWorker(server: Server): void {
  if (!cluster.isWorker) return;
  const close = () => server.close();
  for (const signal of END_SIGNALS) process.once(signal, close);
  server.once('close', () => {
    for (const signal of END_SIGNALS) process.off(signal, close);
  });
}
