import type { ToolContext } from '../../tool/index.js';
import type { CallWay } from '../call/mcp-call.executor.js';

interface Held {
  /** `null` once it is dead: the next call makes another one. */
  way: CallWay | null;
  /** The contexts of the tools that use it. */
  readonly contexts: Set<string>;
}

/** The most sessions of one server that are connected in this process; of more, that which was not used longest goes. */
const MAX_SESSIONS = 1000;

/** Connections of a server that remembers what came before: one for each session, as long as a tool of it keeps a state there. */
export class SessionConnections {
  private readonly held = new Map<string, Held>();
  /** The key of the connection that a context uses. */
  private readonly keys = new Map<string, string>();
  private readonly closing = new Set<Promise<void>>();

  /** @param make gives a connection that has been started */
  constructor(private readonly make: () => CallWay) {}

  /** How many there are that live. */
  get size(): number {
    return [...this.held.values()].filter(({ way }) => way).length;
  }

  /** The connection of a call's session; without one, of its run. */
  wayOf({ tenant, sessionId, runId, state }: ToolContext): CallWay {
    const key = JSON.stringify([tenant, sessionId ?? `run:${runId}`]);
    const held: Held = this.held.get(key) ?? { way: null, contexts: new Set() };
    // At the end are those that were used last.
    this.held.delete(key);
    this.held.set(key, held);
    if (state) {
      held.contexts.add(state.contextId);
      this.keys.set(state.contextId, key);
    }
    if (this.held.size > MAX_SESSIONS) this.close([...this.held.keys()][0]!);
    return (held.way ??= this.open(held));
  }

  /** Hears that a context is gone; with the last one its connection goes. */
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

  /** One that is lost is not tried again for nobody. */
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
