import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import type { Principal } from '../../kernel/index.js';
import type { Connection } from './connection.factory.js';

/** A JSON-RPC error response without a request id. */
export function errorResponse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

type HandleOptions = NonNullable<Parameters<WebStandardStreamableHTTPServerTransport['handleRequest']>[1]>;

interface Session {
  readonly id: string;
  readonly owner: Principal;
  readonly connection: Connection;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Number of pending requests and open streams. */
  open: number;
  /** On the monotonic clock, in ms. */
  usedAt: number;
}

export interface SessionLimits {
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  /** The number of this worker, at the end of its session ids: other workers pass their requests on. */
  readonly worker?: number;
}

/** Protocol error for an unknown or expired session id: the client starts a new session. */
const SESSION_NOT_FOUND = -32_001;
const BAD_REQUEST = -32_000;
/** Number of checks for idle sessions within one idle time-out. */
const CHECKS_PER_IDLE_TIME = 4;

/** Sessions of clients before protocol 2026-07-28, in memory; each belongs to the principal who opened it. */
export class SessionRegistry {
  private readonly sessions = new Map<string, Session>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly connect: () => Connection,
    private readonly limits: SessionLimits,
  ) {
    this.timer = setInterval(
      () => void this.closeIdle(),
      Math.ceil(limits.sessionIdleMs / CHECKS_PER_IDLE_TIME),
    ).unref();
  }

  get connections(): readonly Connection[] {
    return [...this.sessions.values()].map(({ connection }) => connection);
  }

  /** Marks a session as in use. @returns a function that ends the use */
  use(id: string, principal: Principal): () => void {
    const session = this.find(id, principal);
    if (!session) return () => undefined;
    session.open++;
    return () => {
      session.open--;
      session.usedAt = performance.now();
    };
  }

  async handle(request: Request, principal: Principal, options: HandleOptions): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const session = this.find(id, principal);
      if (!session) return errorResponse(404, SESSION_NOT_FOUND, 'Session not found: initialize a new one.');
      return session.transport.handleRequest(request, options);
    }
    if (request.method !== 'POST' || !isInitialize(options.parsedBody)) {
      const message = 'No Mcp-Session-Id: clients before protocol 2026-07-28 start with `initialize`.';
      return errorResponse(400, BAD_REQUEST, message);
    }
    if (!(await this.hasRoom())) return errorResponse(503, BAD_REQUEST, 'Too many sessions: try again later.');
    return this.start(request, principal, options);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([...this.sessions.values()].map((session) => end(session)));
  }

  private async start(request: Request, owner: Principal, options: HandleOptions): Promise<Response> {
    const connection = this.connect();
    const { worker } = this.limits;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => (worker === undefined ? randomUUID() : `${randomUUID()}.${worker}`),
      onsessioninitialized: (id) => {
        this.sessions.set(id, { id, owner, connection, transport, open: 0, usedAt: performance.now() });
      },
    });
    const onclose = (): void => void this.sessions.delete(transport.sessionId ?? '');
    Object.assign(transport, { onclose });
    await connection.server.connect(transport);
    const response = await transport.handleRequest(request, options);
    // A rejected request gets no session.
    if (!response.ok) await connection.server.close();
    return response;
  }

  /** Finds a session. Another principal's session is unknown, and so is an expired one that is not closed yet. */
  private find(id: string, { id: principal, tenant }: Principal): Session | undefined {
    const session = this.sessions.get(id);
    if (session?.owner.id !== principal || session.owner.tenant !== tenant) return undefined;
    return this.isIdle(session) ? undefined : session;
  }

  private isIdle({ open, usedAt }: Session): boolean {
    return open === 0 && performance.now() - usedAt >= this.limits.sessionIdleMs;
  }

  /**
   * At the limit, evicts the longest-idle session of the owner with the most sessions; other owners are not affected.
   */
  private async hasRoom(): Promise<boolean> {
    if (this.sessions.size < this.limits.maxSessions) return true;
    const byOwner = Object.groupBy(this.sessions.values(), ({ owner }) => JSON.stringify([owner.tenant, owner.id]));
    const most = Object.values(byOwner).reduce((a = [], b = []) => (b.length > a.length ? b : a), []) ?? [];
    const idle = most.filter(({ open }) => open === 0).toSorted((a, b) => a.usedAt - b.usedAt);
    if (!idle[0]) return false;
    await end(idle[0]);
    return true;
  }

  private async closeIdle(): Promise<void> {
    const idle = [...this.sessions.values()].filter((session) => this.isIdle(session));
    await Promise.all(idle.map((session) => end(session)));
  }
}

/** Closes the connection; pending requests are aborted. */
async function end({ connection }: Session): Promise<void> {
  await connection.server.close();
}

function isInitialize(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
}
