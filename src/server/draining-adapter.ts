import { FastifyAdapter } from '@nestjs/platform-fastify';
import cluster from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { steadyNow } from '../kernel/index.js';

/** The HTTP server of Nest and Fastify. After a signal its listener stays open for a time, for late requests. */
export class DrainingAdapter extends FastifyAdapter {
  private openUntil = 0;

  /** @param graceMs time after `drain` in which the listener accepts connections at least */
  constructor(
    options: object,
    private readonly graceMs: number,
  ) {
    super(options);
  }

  /** In a worker of pm2 or node:cluster, closes the listener at once: another worker has the port. */
  drain(): void {
    if (cluster.isWorker) this.getHttpServer().close();
    else if (this.getHttpServer().listening) this.openUntil = steadyNow() + this.graceMs;
  }

  override async close(): Promise<void> {
    const restMs = this.openUntil - steadyNow();
    if (restMs > 0) await pause(restMs);
    await super.close();
  }
}
