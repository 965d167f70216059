import type { ToolContext } from '../../tool/method/index.js';
import type { CallChannel } from '../call/mcp-call.executor.js';

interface Entry {
  /** `null` after its end: the next call opens a new connection. */
  channel: CallChannel | null;
  /** Contexts of the tools that use the connection. */
  readonly contexts: Set<string>;
}

/** Maximum number of connected sessions per server in this process; the least recently used one is evicted. */
const MAX_SESSIONS = 1000;

/** Connections of a stateful server: one per session, while its tools have a state in the session. */
export class SessionConnections {
  private readonly entries = new Map<string, Entry>();
  /** The session key of each context. */
  private readonly keys = new Map<string, string>();
  private readonly closing = new Set<Promise<void>>();

  /** @param make creates and starts a connection */
  constructor(private readonly make: () => CallChannel) {}

  /** Number of open connections. */
  get size(): number {
    return [...this.entries.values()].filter(({ channel }) => channel).length;
  }

  /** The connection for a call's session; without a session, for its run. */
  channelOf({ tenant, sessionId, runId, state }: ToolContext): CallChannel {
    const key = JSON.stringify([tenant, sessionId ?? `run:${runId}`]);
    const entry: Entry = this.entries.get(key) ?? { channel: null, contexts: new Set() };
    // The most recently used entries are at the end.
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (state) {
      entry.contexts.add(state.contextId);
      this.keys.set(state.contextId, key);
    }
    if (this.entries.size > MAX_SESSIONS) this.close([...this.entries.keys()][0]!);
    return (entry.channel ??= this.open(entry));
  }

  /** Releases a context; the last one closes the connection. */
  released(contextId: string): void {
    const key = this.keys.get(contextId);
    if (key === undefined) return;
    this.keys.delete(contextId);
    const entry = this.entries.get(key);
    entry?.contexts.delete(contextId);
    if (entry?.contexts.size === 0) this.close(key);
  }

  async closeAll(): Promise<void> {
    for (const key of this.entries.keys()) this.close(key);
    await Promise.all(this.closing);
  }

  private close(key: string): void {
    const entry = this.entries.get(key)!;
    this.entries.delete(key);
    for (const contextId of entry.contexts) this.keys.delete(contextId);
    this.end(entry);
  }

  /** Opens a connection. A lost one is not opened again until the next call. */
  private open(entry: Entry): CallChannel {
    const channel = this.make();
    const isDead = channel.connection.until(({ status }) => status === 'failed' || status === 'closed');
    void isDead.then(() => entry.channel === channel && this.end(entry));
    return channel;
  }

  private end(entry: Entry): void {
    const { channel } = entry;
    entry.channel = null;
    if (!channel) return;
    channel.live.close();
    const closed = channel.connection.close().finally(() => this.closing.delete(closed));
    this.closing.add(closed);
  }
}
