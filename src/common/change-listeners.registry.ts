/** Who wants to hear that something has changed; what has, they look up. */
export class ChangeListeners {
  private readonly listeners = new Set<() => void>();

  /** @returns a function that ends the listening */
  add(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  tell(): void {
    for (const listener of this.listeners) listener();
  }
}
