/** Listeners for a change. They receive no data and read the new state themselves. */
export class ChangeListeners {
  private readonly listeners = new Set<() => void>();

  /** @returns a function that removes the listener */
  add(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }
}
