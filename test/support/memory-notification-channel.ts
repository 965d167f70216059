import { NotificationChannel } from '../../src/persistence/index.js';

/** Short messages within one process, delivered as a database does between processes: later, and in order. */
export class MemoryNotificationChannel extends NotificationChannel {
  longest = 0;
  private readonly listeners = new Map<string, Set<(payload: string) => void>>();

  async listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>> {
    const listeners = this.listeners.get(channel) ?? new Set();
    this.listeners.set(channel, listeners.add(listener));
    return async () => void listeners.delete(listener);
  }

  notify(channel: string, payload: string): void {
    this.longest = Math.max(this.longest, Buffer.byteLength(payload));
    setImmediate(() => {
      for (const listener of this.listeners.get(channel) ?? []) listener(payload);
    });
  }

  async close(): Promise<void> {
    this.listeners.clear();
  }
}
