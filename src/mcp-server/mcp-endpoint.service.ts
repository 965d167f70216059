import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable, Writable } from 'node:stream';
import type { Principal } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import { McpOffer } from './mcp-offer.service.js';
import { McpRuns } from './mcp-run.service.js';
import type { McpHttpHandler } from './protocol/http.handler.js';
import type { McpStdioHandler } from './protocol/stdio.handler.js';

/** A client that takes nothing of what is there for so long is let go, in ms. */
const STALLED_MS = 30_000;

type Handler = McpHttpHandler | McpStdioHandler;

/** Where MCP clients come in. The protocol is loaded with the first of them: it is 100 ms and more. */
@Injectable()
export class McpEndpoint implements OnApplicationShutdown {
  private http: Promise<McpHttpHandler> | undefined;
  private readonly open = new Set<Handler>();

  constructor(
    private readonly config: AppConfig,
    private readonly offer: McpOffer,
    private readonly runs: McpRuns,
  ) {}

  /** Answers a request over HTTP; it takes the reply over. */
  async handle(principal: Principal, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const handler = await (this.http ??= this.loadHttp());
    const { raw } = reply;
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
    reply.hijack();
    raw.on('error', () => undefined);
    raw.setTimeout(STALLED_MS, () => {
      if (raw.writableLength > 0) raw.destroy();
    });
    await handler.handle(principal, request.raw, raw, request.body);
  }

  /** Serves the client at the other end of two streams, standard input and output above all. */
  async serveStdio(principal: Principal, input: Readable, output: Writable): Promise<void> {
    const { McpStdioHandler } = await import('./protocol/stdio.handler.js');
    this.follow(new McpStdioHandler(this.offer, principal, { input, output }));
  }

  /** From now on a client that is gone cancels nothing: unfinished runs go on at the next start. */
  handOver(): void {
    this.runs.handOver();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.open].map((handler) => handler.close()));
  }

  private async loadHttp(): Promise<McpHttpHandler> {
    const { McpHttpHandler } = await import('./protocol/http.handler.js');
    return this.follow(new McpHttpHandler(this.offer, this.config.mcpServer));
  }

  private follow<H extends Handler>(handler: H): H {
    if (this.open.size === 0) this.offer.changes.follow((change) => this.tell(change));
    this.open.add(handler);
    return handler;
  }

  private tell(change: Parameters<Handler['tell']>[0]): void {
    for (const handler of this.open) handler.tell(change);
  }
}
