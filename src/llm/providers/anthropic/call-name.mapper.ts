/** What Anthropic takes as the id and the name of a call. */
const NOT_ALLOWED = /[^A-Za-z0-9_-]/g;
const MAX_NAME = 64;

/**
 * Gives the calls of a history ids that Anthropic takes: of its own signs only, and no two alike in all of a request.
 * Other providers' may be `functions.add:0`, or begin anew in every reply.
 */
export class CallIds {
  private readonly taken = new Set<string>();
  private readonly current = new Map<string, string>();

  /** The id of a call that comes now. */
  open(id: string): string {
    const wanted = id.replaceAll(NOT_ALLOWED, '_') || 'call';
    let free = wanted;
    for (let n = 2; this.taken.has(free); n++) free = `${wanted}_${n}`;
    this.taken.add(free);
    this.current.set(id, free);
    return free;
  }

  /** The id of the call that a result answers: the last one of that id. */
  of(id: string): string {
    return this.current.get(id) ?? this.open(id);
  }
}

/** A tool's name as a history may hold it: a model may have called what no tool can be called. */
export function toCallName(name: string): string {
  return name.replaceAll(NOT_ALLOWED, '_').slice(0, MAX_NAME) || 'tool';
}
