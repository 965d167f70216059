import { FastifyAdapter } from '@nestjs/platform-fastify';
import cluster from 'node:cluster';
import { type Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { steadyNow } from '../kernel/index.js';
import type { SupervisorLink } from './supervisor/supervisor-link.js';

/** Interval of looks at the connections of a retiring server, in ms. */
const LOOK_MS = 100;

/** The HTTP server of Nest and Fastify. After a signal its listener stays open for a time, for late requests. */
export class DrainingAdapter extends FastifyAdapter {
  private openUntil = 0;
  /** Requests that a client may not repeat: all but GET and HEAD. */
  private pending = 0;
  /** Start or end of the last one, on the monotonic clock, in ms. */
  private lastAt = 0;
  /** Whether the server serves only the connections that it has. */
  isRetiring = false;
  /** Whether no other process has the port: all workers stop. */
  isLast = !cluster.isWorker;

  /**
   * @param graceMs time after `drain` in which the listener accepts connections at least, and quiet time of `retire`
   * @param link to the supervisor, in a worker of it
   */
  constructor(
    options: object,
    readonly graceMs: number,
    readonly link: SupervisorLink | null,
  ) {
    super(options);
  }

  /** Closes the listener at once if another process has the port, otherwise after the grace. */
  drain(): void {
    if (!this.isLast) this.getHttpServer().close();
    else if (this.getHttpServer().listening) this.openUntil = steadyNow() + this.graceMs;
  }

  /** Counts requests from now on, for `retire`. */
  countRequests(): void {
    this.getInstance().addHook('onRequest', (request, reply, done) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        this.change(1);
        reply.raw.once('close', () => this.change(-1));
      }
      done();
    });
  }

  /**
   * Accepts no more connections and serves those that it has: they close with their next response. Resolves when all are closed, or
   * those left have had no request in the time of the grace. @param limitMs longest wait for requests
   */
  async retire(limitMs: number): Promise<void> {
    this.isRetiring = true;
    const server: HttpServer = this.getHttpServer();
    // Only the listener: the method of an HTTP server also ends idle connections, on which a request may be under way.
    Server.prototype.close.call(server);
    const end = steadyNow() + limitMs;
    this.lastAt = steadyNow();
    while (steadyNow() < end) {
      if ((await connectionsOf(server)) === 0) return;
      if (this.pending === 0 && steadyNow() - this.lastAt >= this.graceMs) return;
      await pause(LOOK_MS);
    }
  }

  private change(by: number): void {
    this.pending += by;
    this.lastAt = steadyNow();
  }

  override async close(): Promise<void> {
    const restMs = this.openUntil - steadyNow();
    if (restMs > 0) await pause(restMs);
    await super.close();
  }
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)));
}
