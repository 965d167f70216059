import { AppError } from '../errors/index.js';
import { isId } from '../kernel/index.js';
import type { SessionPlace } from '../session/index.js';

/** Start of a page of resources: all sessions come before all runs. */
export type ResourceCursor =
  { readonly kind: 'sessions'; readonly after?: SessionPlace } | { readonly kind: 'runs'; readonly after?: string };

/** URI of a session: its template's expansion, in which an id is percent-encoded. */
export function toSessionUri(id: string): string {
  return `jackdaw://sessions/${encodeURIComponent(id)}`;
}

/** The id in the URI of a session; undefined for other URIs, and for another spelling of one. */
export function sessionIdIn(uri: string): string | undefined {
  const [, encoded = ''] = /^jackdaw:\/\/sessions\/([^/?#]+)$/.exec(uri) ?? [];
  try {
    const id = decodeURIComponent(encoded);
    return isId(id) && toSessionUri(id) === uri ? id : undefined;
  } catch {
    return undefined;
  }
}

export function toResourceCursor(cursor: ResourceCursor): string {
  if (cursor.kind === 'runs') return `r.${cursor.after ?? ''}`;
  return cursor.after ? `s.${cursor.after.createdAt}.${cursor.after.id}` : 's.';
}

/** @throws AppError `VALIDATION_FAILED` for an invalid cursor */
export function parseResourceCursor(text: string): ResourceCursor {
  const [, kind, at, id] = /^([sr])\.(?:(\d{1,15})\.([\p{L}\p{M}\p{Nd}_.:@-]{1,128}))?$/u.exec(text) ?? [];
  if (kind === 'r') return at === undefined ? { kind: 'runs' } : { kind: 'runs', after: `${at}.${id}` };
  if (kind === 's' && id !== undefined) return { kind: 'sessions', after: { createdAt: Number(at), id } };
  throw new AppError('VALIDATION_FAILED', 'cursor must be the "nextCursor" of a page');
}
