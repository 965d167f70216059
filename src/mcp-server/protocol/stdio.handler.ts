import { serveStdio, type StdioServerHandle, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { pipeline, type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Principal } from '../../kernel/index.js';
import { MarkedIntegers } from '../../kernel/json/index.js';
import type { McpChange } from '../mcp-changes.service.js';
import type { McpOffer } from '../mcp-offer.service.js';
import { type Connection, createConnection } from './connection.factory.js';

/** Notifies a client of a change; errors of a disconnected client are ignored. */
export function publishChange({ server, subscriptions }: Connection, change: McpChange): void {
  sent({ server, subscriptions }, change)?.catch(() => undefined);
}

function sent({ server, subscriptions }: Connection, change: McpChange): Promise<void> | undefined {
  switch (change.kind) {
    case 'tools':
      return server.sendToolListChanged();
    case 'prompts':
      return server.sendPromptListChanged();
    case 'resources':
      return server.sendResourceListChanged();
    case 'resource':
      return subscriptions.has(change.uri) ? server.sendResourceUpdated({ uri: change.uri }) : undefined;
  }
}

/** Serves one client over standard input and output, in the protocol version that the client starts with. */
export class McpStdioHandler {
  private readonly connections = new Set<Connection>();
  private readonly served: StdioServerHandle;

  constructor(
    private readonly offer: McpOffer,
    private readonly principal: Principal,
    { input, output }: { readonly input: Readable; readonly output: Writable },
  ) {
    const connect = (era: 'legacy' | 'modern') => this.connect(era);
    const transport = exactTransport(input, output);
    const onerror = (error: Error): void => offer.report(error);
    this.served = serveStdio(({ era }) => connect(era), { transport, onerror });
  }

  publish(change: McpChange): void {
    if (change.kind === 'resource' && change.tenant !== undefined && change.tenant !== this.principal.tenant) return;
    for (const connection of this.connections) publishChange(connection, change);
  }

  close(): Promise<void> {
    return this.served.close();
  }

  private connect(era: 'legacy' | 'modern') {
    const connection = createConnection(this.offer, () => this.principal);
    const { server, subscriptions } = connection;
    // Since 2026 the SDK itself filters the notifications of a change stream.
    const subscriber = era === 'modern' ? { server, subscriptions: EVERYTHING } : { server, subscriptions };
    if (era === 'modern') this.offer.changes.followRuns();
    this.connections.add(subscriber);
    return Object.assign(server, { onclose: () => void this.connections.delete(subscriber) });
  }
}

const MARK = Buffer.from('\uFEFF');

/** Removes a byte order mark at the start, which PowerShell writes into pipes; it would make the first message unreadable. */
class MarkFilter extends Transform {
  /** The first bytes, until a byte order mark is detected or excluded; then undefined. */
  private start: Buffer | undefined = Buffer.alloc(0);

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (!this.start) return done(null, chunk);
    const start = Buffer.concat([this.start, chunk]);
    const isOpen = start.length < MARK.length && MARK.subarray(0, start.length).equals(start);
    this.start = isOpen ? start : undefined;
    if (isOpen) return done();
    done(null, start.subarray(0, MARK.length).equals(MARK) ? start.subarray(MARK.length) : start);
  }

  override _flush(done: TransformCallback): void {
    done(null, this.start);
  }
}

/** Passes integers beyond 2^53 through the SDK's own parser as marked strings. */
function exactTransport(input: Readable, output: Writable): StdioServerTransport {
  const integers = new MarkedIntegers();
  const mark = integers.marker();
  const marked = new Transform({
    decodeStrings: false,
    transform: (piece: string | Buffer, _encoding, done) => done(null, mark(decoder.write(piece))),
    flush: (done) => done(null, mark(decoder.end()) + mark()),
  });
  const decoder = new StringDecoder('utf8');
  const transport = new StdioServerTransport(
    pipeline(input, new MarkFilter(), marked, () => undefined),
    output,
  );
  let receive: StdioServerTransport['onmessage'];
  return Object.defineProperty(transport, 'onmessage', {
    get: () => receive,
    set: (listener: StdioServerTransport['onmessage']) => {
      receive = listener && ((message) => listener(integers.restore(message) as typeof message));
    },
  });
}

const EVERYTHING = { has: () => true };
