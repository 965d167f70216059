import type { ContextFilter, ContextKey } from '../tool-state.types.js';
import type { StoredContext } from './state-store.js';

/** Metadata of a context, available without reading it. */
export type ContextHead = Pick<StoredContext, 'id' | 'tenant' | 'session' | 'tool' | 'expiresAt'>;

/** In-memory index of contexts, for stores without queries. */
export class ContextIndex {
  private readonly heads = new Map<string, ContextHead>();
  /** Context ids by tenant and session. */
  private readonly sessions = new Map<string, Set<string>>();

  put(head: ContextHead): void {
    const isThere = this.heads.has(head.id);
    this.heads.set(head.id, head);
    if (isThere) return;
    const session = sessionOf(head);
    const ids = this.sessions.get(session);
    if (ids) ids.add(head.id);
    else this.sessions.set(session, new Set([head.id]));
  }

  has(id: string): boolean {
    return this.heads.has(id);
  }

  keyOf(id: string): ContextKey | null {
    const head = this.heads.get(id);
    return head ? { tenant: head.tenant, session: head.session, tool: head.tool } : null;
  }

  remove(id: string): void {
    const head = this.heads.get(id);
    if (!head) return;
    this.heads.delete(id);
    const ids = this.sessions.get(sessionOf(head))!;
    ids.delete(id);
    if (ids.size === 0) this.sessions.delete(sessionOf(head));
  }

  /** Sorted ids of unexpired contexts. @param now epoch ms */
  list(filter: ContextFilter, now: number): string[] {
    const ids: string[] = [];
    for (const head of this.candidates(filter)) if (isMeant(head, filter, now)) ids.push(head.id);
    return ids.toSorted().slice(0, filter.limit);
  }

  tenants(): string[] {
    return [...new Set([...this.heads.values()].map(({ tenant }) => tenant))];
  }

  /** Ids of expired contexts, up to `limit`. @param now epoch ms */
  expired(now: number, limit: number): string[] {
    const ids: string[] = [];
    for (const { id, expiresAt } of this.heads.values()) {
      if (ids.length === limit) break;
      if (expiresAt !== null && expiresAt <= now) ids.push(id);
    }
    return ids;
  }

  private *candidates({ tenant, session, sessions }: ContextFilter): Iterable<ContextHead> {
    const within = session === undefined ? sessions : [session];
    if (within === undefined) return yield* this.heads.values();
    for (const one of within) {
      for (const id of this.sessions.get(sessionOf({ tenant, session: one })) ?? []) yield this.heads.get(id)!;
    }
  }
}

function sessionOf({ tenant, session }: Pick<ContextHead, 'tenant' | 'session'>): string {
  return JSON.stringify([tenant, session]);
}

function isMeant(head: ContextHead, filter: ContextFilter, now: number): boolean {
  const { tenant, tool, sessions, after = '' } = filter;
  if (sessions && !sessions.includes(head.session)) return false;
  if (head.tenant !== tenant || head.id <= after) return false;
  if (tool !== undefined && head.tool !== tool) return false;
  return head.expiresAt === null || head.expiresAt > now;
}
