import { serveStdio, StdioServerTransport, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import type { Readable, Writable } from 'node:stream';
import type { Principal } from '../../common/index.js';
import type { McpChange } from '../mcp-changes.service.js';
import type { McpOffer } from '../mcp-offer.service.js';
import { createConnection, type Connection } from './connection.factory.js';
import { tellConnection } from './connection-change.mapper.js';

/** Serves one client over standard input and output, in whatever protocol it begins. */
export class McpStdioHandler {
  private readonly connections = new Set<Connection>();
  private readonly served: StdioServerHandle;

  constructor(
    private readonly offer: McpOffer,
    private readonly principal: Principal,
    { input, output }: { readonly input: Readable; readonly output: Writable },
  ) {
    const connect = (era: 'legacy' | 'modern') => this.connect(era);
    const transport = new StdioServerTransport(input, output);
    const onerror = (error: Error): void => offer.report(error);
    this.served = serveStdio(({ era }) => connect(era), { transport, onerror });
  }

  tell(change: McpChange): void {
    if (change.kind === 'resource' && change.tenant !== undefined && change.tenant !== this.principal.tenant) return;
    for (const connection of this.connections) tellConnection(connection, change);
  }

  close(): Promise<void> {
    return this.served.close();
  }

  private connect(era: 'legacy' | 'modern') {
    const connection = createConnection(this.offer, () => this.principal);
    const { server, subscriptions } = connection;
    // Since 2026 the SDK itself knows what a stream of changes is told.
    const told = era === 'modern' ? { server, subscriptions: EVERYTHING } : { server, subscriptions };
    if (era === 'modern') this.offer.changes.followRuns();
    this.connections.add(told);
    return Object.assign(server, { onclose: () => void this.connections.delete(told) });
  }
}

const EVERYTHING = { has: () => true };
