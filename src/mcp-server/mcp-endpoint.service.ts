import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { loadPackage } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { mcpServerConfig, type McpEndpointConfig } from '../config/namespaces/index.js';
import { McpOffer } from './mcp-offer.service.js';
import { McpRuns } from './mcp-run.service.js';
import { isListening } from './accepted-form.mapper.js';
import type { McpHttpHandler } from './protocol/http.handler.js';
import type { McpStdioHandler } from './protocol/stdio.handler.js';

/** Packages that only the MCP server imports: optional peers of ours. */
const PACKAGES = ['@modelcontextprotocol/server', '@modelcontextprotocol/node'];
/** A client that reads no pending data for this time is disconnected, in ms. */
const STALLED_MS = 30_000;

type Handler = McpHttpHandler | McpStdioHandler;

/** The endpoint for MCP clients. The first client loads the protocol, which takes 100 ms or more. */
@Injectable()
export class McpEndpoint implements BeforeApplicationShutdown, OnApplicationShutdown {
  private http: Promise<McpHttpHandler> | undefined;
  /** Responses that only the client or the shutdown ends. */
  private readonly streams = new Set<ServerResponse>();
  private readonly open = new Set<Handler>();

  constructor(
    @Inject(mcpServerConfig.KEY) private readonly config: McpEndpointConfig,
    private readonly offer: McpOffer,
    private readonly runs: McpRuns,
  ) {}

  /** Answers an HTTP request; takes over the reply. */
  async handle(principal: Principal, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const handler = await (this.http ??= this.loadHttp());
    const { raw } = reply;
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
    reply.hijack();
    raw.on('error', () => undefined);
    raw.setTimeout(STALLED_MS, () => {
      if (raw.writableLength > 0) raw.destroy();
    });
    if (request.method === 'GET' || isListening(request.body)) {
      this.streams.add(raw);
      raw.once('close', () => this.streams.delete(raw));
    }
    await handler.handle(principal, request.raw, raw, request.body);
  }

  /** Serves the client of two streams, usually standard input and output. */
  async serveStdio(principal: Principal, input: Readable, output: Writable): Promise<void> {
    const { McpStdioHandler } = await loadPackage(
      PACKAGES,
      'The MCP server',
      () => import('./protocol/stdio.handler.js'),
    );
    this.follow(new McpStdioHandler(this.offer, principal, { input, output }));
  }

  /** From now on a disconnected client cancels no run: unfinished runs resume at the next start. */
  handOver(): void {
    this.runs.handOver();
  }

  /** Ends the notification streams: the server of a host waits for its connections before `onApplicationShutdown`. */
  beforeApplicationShutdown(): void {
    for (const stream of this.streams) stream.destroy();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.open].map((handler) => handler.close()));
  }

  private async loadHttp(): Promise<McpHttpHandler> {
    const { McpHttpHandler } = await loadPackage(
      PACKAGES,
      'The MCP server',
      () => import('./protocol/http.handler.js'),
    );
    return this.follow(new McpHttpHandler(this.offer, this.config));
  }

  private follow<H extends Handler>(handler: H): H {
    if (this.open.size === 0) this.offer.changes.follow((change) => this.publish(change));
    this.open.add(handler);
    return handler;
  }

  private publish(change: Parameters<Handler['publish']>[0]): void {
    for (const handler of this.open) handler.publish(change);
  }
}
