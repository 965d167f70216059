/** Time after which a remote follower that did not repeat its subscription is removed, in ms. */
const FORGET_MS = 10_000;

/** The runs that other processes follow. */
export class RemoteFollowRegistry {
  /** Expiry times (monotonic ms), by node, by run. */
  private readonly runs = new Map<string, Map<string, number>>();

  add(runId: string, node: string): void {
    let nodes = this.runs.get(runId);
    if (!nodes) this.runs.set(runId, (nodes = new Map()));
    nodes.set(node, performance.now() + FORGET_MS);
  }

  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  of(runId: string): Iterable<string> {
    return this.runs.get(runId)?.keys() ?? [];
  }

  /** Removes followers that did not repeat their subscription in time. */
  expire(): void {
    const now = performance.now();
    for (const [runId, nodes] of this.runs) {
      for (const [node, until] of nodes) if (until < now) nodes.delete(node);
      if (nodes.size === 0) this.runs.delete(runId);
    }
  }
}
