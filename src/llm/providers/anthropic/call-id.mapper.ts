/** Characters that Anthropic rejects in ids of calls. */
const NOT_ALLOWED = /[^A-Za-z0-9_-]/g;

/**
 * Maps call ids of a history to valid ids that are unique in the request. Ids of other providers may contain other
 * characters (`functions.add:0`) or repeat in every reply.
 */
export class CallIds {
  private readonly taken = new Set<string>();
  private readonly current = new Map<string, string>();

  /** The mapped id of a new call. */
  open(id: string): string {
    const wanted = id.replaceAll(NOT_ALLOWED, '_') || 'call';
    let free = wanted;
    for (let n = 2; this.taken.has(free); n++) free = `${wanted}_${n}`;
    this.taken.add(free);
    this.current.set(id, free);
    return free;
  }

  /** The mapped id of the call that a result belongs to: the last call with that id. */
  of(id: string): string {
    return this.current.get(id) ?? this.open(id);
  }
}
