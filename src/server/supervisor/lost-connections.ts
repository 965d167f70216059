import type { Worker } from 'node:cluster';

/** Messages of node:cluster: a connection for a worker, and the answer of the worker. */
interface ClusterMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/**
 * Passes the pending connections of a killed worker on to the others. By node:cluster the supervisor accepts
 * connections for all workers in turn; without an answer of the worker a connection would stay open for ever, and nothing would answer
 * its client. An answer that refuses them makes node:cluster choose another worker, as for a worker that stops.
 */
export function rescueConnections(worker: Worker): void {
  const { process: child } = worker;
  const pending = new Set<number>();
  const send = child.send.bind(child) as (...values: unknown[]) => boolean;
  Object.assign(child, {
    send: (...values: unknown[]): boolean => {
      const { act, seq } = (values[0] ?? {}) as ClusterMessage;
      if (act === 'newconn' && seq !== undefined) pending.add(seq);
      return send(...values);
    },
  });
  child.on('internalMessage', ({ ack }: ClusterMessage) => void (ack !== undefined && pending.delete(ack)));
  const rescue = () => {
    for (const ack of pending) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
    pending.clear();
  };
  // When node:cluster has removed the worker: it chooses no other one before.
  worker.once('exit', () =>
    worker.isConnected() ? worker.once('disconnect', () => setImmediate(rescue)) : setImmediate(rescue),
  );
}
