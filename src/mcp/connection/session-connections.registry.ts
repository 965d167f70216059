import type { ToolContext } from '../../tool/index.js';
import type { CallWay } from '../call/mcp-call.executor.js';

interface Held {
  /** `null` after its end: the next call opens a new connection. */
  way: CallWay | null;
  /** Contexts of the tools that use the connection. */
  readonly contexts: Set<string>;
}

/** Maximum number of connected sessions per server in this process; the least recently used one is evicted. */
const MAX_SESSIONS = 1000;

/** Connections of a stateful server: one per session, while its tools have a state in the session. */
export class SessionConnections {
  private readonly held = new Map<string, Held>();
  /** The session key of each context. */
  private readonly keys = new Map<string, string>();
  private readonly closing = new Set<Promise<void>>();

  /** @param make creates and starts a connection */
  constructor(private readonly make: () => CallWay) {}

  /** Number of open connections. */
  get size(): number {
    return [...this.held.values()].filter(({ way }) => way).length;
  }

  /** The connection for a call's session; without a session, for its run. */
  wayOf({ tenant, sessionId, runId, state }: ToolContext): CallWay {
    const key = JSON.stringify([tenant, sessionId ?? `run:${runId}`]);
    const held: Held = this.held.get(key) ?? { way: null, contexts: new Set() };
    // The most recently used entries are at the end.
    this.held.delete(key);
    this.held.set(key, held);
    if (state) {
      held.contexts.add(state.contextId);
      this.keys.set(state.contextId, key);
    }
    if (this.held.size > MAX_SESSIONS) this.close([...this.held.keys()][0]!);
    return (held.way ??= this.open(held));
  }

  /** Releases a context; the last one closes the connection. */
  released(contextId: string): void {
    const key = this.keys.get(contextId);
    if (key === undefined) return;
    this.keys.delete(contextId);
    const held = this.held.get(key);
    held?.contexts.delete(contextId);
    if (held?.contexts.size === 0) this.close(key);
  }

  async closeAll(): Promise<void> {
    for (const key of this.held.keys()) this.close(key);
    await Promise.all(this.closing);
  }

  private close(key: string): void {
    const held = this.held.get(key)!;
    this.held.delete(key);
    for (const contextId of held.contexts) this.keys.delete(contextId);
    this.end(held);
  }

  /** Opens a connection. A lost one is not opened again until the next call. */
  private open(held: Held): CallWay {
    const way = this.make();
    const isDead = way.connection.until(({ status }) => status === 'failed' || status === 'closed');
    void isDead.then(() => held.way === way && this.end(held));
    return way;
  }

  private end(held: Held): void {
    const { way } = held;
    held.way = null;
    if (!way) return;
    way.live.close();
    const closed = way.connection.close().finally(() => this.closing.delete(closed));
    this.closing.add(closed);
  }
}
