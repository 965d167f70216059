import { steadyNow } from '../../kernel/index.js';
import type { Database } from '../../persistence/index.js';

type ChangeListener = (runIds: readonly string[] | null) => void;

/** A process that does not repeat its subscription within this time no longer has it, in ms. */
const EXPIRY_MS = 10_000;
/** Time for which changes are collected for one message, in ms. */
const COLLECT_MS = 100;
/** Changes of one message: ids have up to 64 characters, a message up to 8,000 bytes. */
const MAX_MESSAGE = 100;

/** Status changes of runs between processes: who receives those of this process, and who listens here. */
export class RemoteChangeRegistry {
  private readonly listeners = new Set<ChangeListener>();
  /** Expiry of the subscription of each other process, by the steady clock. */
  private readonly watchers = new Map<string, number>();
  private collected = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private stopCollecting: (() => void) | null = null;

  /** @param send sends changes of this process to another one */
  constructor(
    private readonly database: Pick<Database, 'onStatusChange'>,
    private readonly send: (node: string, runIds: readonly string[]) => void,
  ) {}

  get isListening(): boolean {
    return this.listeners.size > 0;
  }

  /** @returns the end of it */
  listen(listener: ChangeListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** @param runIds `null` if messages may be lost */
  receive(runIds: readonly string[] | null): void {
    for (const listener of this.listeners) listener(runIds);
  }

  addWatcher(node: string): void {
    this.watchers.set(node, steadyNow() + EXPIRY_MS);
    this.stopCollecting ??= this.database.onStatusChange((runIds) => this.collect(runIds));
  }

  expire(): void {
    for (const [node, at] of this.watchers) if (at <= steadyNow()) this.watchers.delete(node);
    if (this.watchers.size === 0) this.close();
  }

  close(): void {
    this.stopCollecting?.();
    this.stopCollecting = null;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.collected.clear();
  }

  private collect(runIds: readonly string[]): void {
    for (const id of runIds) this.collected.add(id);
    this.timer ??= setTimeout(() => this.flush(), COLLECT_MS).unref();
  }

  private flush(): void {
    this.timer = undefined;
    const runIds = [...this.collected];
    this.collected = new Set();
    for (let at = 0; at < runIds.length; at += MAX_MESSAGE) {
      const message = runIds.slice(at, at + MAX_MESSAGE);
      for (const node of this.watchers.keys()) this.send(node, message);
    }
  }
}
