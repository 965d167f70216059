import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { request as httpRequest, type Server as HttpServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Log, messageOf } from '../../errors/index.js';
import { MCP_PATH } from '../../mcp-server/index.js';

const LINE_END = 0x0a;
/** Longest address line, in bytes. */
const MAX_LINE = 200;
/** Headers of one connection. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding'];
/** The session id of a worker ends with its number. */
const NUMBER_IN_ID = /\.(\d{1,3})$/;
/** The client starts a new session. */
const SESSION_NOT_FOUND = JSON.stringify({
  jsonrpc: '2.0',
  error: { code: -32_001, message: 'Session not found: initialize a new one.' },
  id: null,
});

/**
 * Passes the requests of MCP sessions to the worker that has the session in memory. A client opens several connections, which
 * go to different workers. Each worker listens on a Unix socket in a folder of its supervisor; a connection starts with a line that
 * has the address of the client.
 */
export class SiblingPort {
  private readonly logger = new Log('Workers');
  private server: Server | undefined;

  constructor(
    private readonly number: number,
    private readonly folder: string,
  ) {}

  /** Serves the connections of the others as if they were the client's. Without a socket, sessions need one connection. */
  async open(target: HttpServer): Promise<void> {
    const path = this.pathOf(this.number);
    // Of an earlier worker with this number.
    rmSync(path, { force: true });
    const server = createServer((socket) => receive(socket, target));
    try {
      server.listen({ path, exclusive: true });
      await once(server, 'listening');
      this.server = server.unref();
    } catch (error) {
      this.logger.warn(`Sessions of MCP clients work on one connection only: ${messageOf(error)}`);
    }
  }

  close(): void {
    this.server?.close();
  }

  /** Forwards requests of sessions of other workers, before anything else handles them. */
  addHook(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      const id = request.headers['mcp-session-id'];
      const [, number] = (typeof id === 'string' && NUMBER_IN_ID.exec(id)) || [];
      const isOther = number !== undefined && Number(number) !== this.number;
      if (!isOther || request.url.replace(/[?].*/, '') !== `/${MCP_PATH}`) return done();
      reply.hijack();
      this.forward(Number(number), request, reply);
    });
  }

  private forward(number: number, { raw: incoming, originalUrl: path, ip }: FastifyRequest, reply: FastifyReply): void {
    const { raw: response } = reply;
    const socket = connect(this.pathOf(number));
    socket.write(`${incoming.socket.remoteAddress ?? ip}\n`);
    const { method, headers } = incoming;
    const outgoing = httpRequest({ createConnection: () => socket, method, path, headers });
    outgoing.on('response', (answer) => {
      const kept = Object.entries(answer.headers).filter(([name]) => !OF_CONNECTION.includes(name));
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
      answer.on('error', () => response.destroy()).pipe(response);
    });
    outgoing.on('error', () => {
      if (response.headersSent) return void response.destroy();
      response.writeHead(404, { 'content-type': 'application/json' }).end(SESSION_NOT_FOUND);
    });
    response.once('close', () => outgoing.destroy()).on('error', () => undefined);
    incoming.pipe(outgoing);
  }

  private pathOf(number: number): string {
    return join(this.folder, `${number}.sock`);
  }
}

/** Reads the line with the address of the client, then passes the connection on. */
function receive(socket: Socket, target: HttpServer): void {
  let head = Buffer.alloc(0);
  const take = (piece: Buffer) => {
    head = Buffer.concat([head, piece]);
    const end = head.indexOf(LINE_END);
    if (end === -1) return head.length > MAX_LINE ? void socket.destroy() : undefined;
    socket.off('data', take).pause();
    Object.defineProperty(socket, 'remoteAddress', { value: head.subarray(0, end).toString() });
    if (head.length > end + 1) socket.unshift(head.subarray(end + 1));
    target.emit('connection', socket);
    socket.resume();
  };
  socket.on('data', take).on('error', () => undefined);
}
