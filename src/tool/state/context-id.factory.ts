import { createHash } from 'node:crypto';
import type { ContextKey } from './tool-state.types.js';

const LENGTH = 32;

/** The id of a key's context: always the same one, and nobody finds a key by it. */
export function contextIdOf({ tenant, session, tool }: ContextKey): string {
  const hash = createHash('sha256').update(JSON.stringify([tenant, session, tool]));
  return `ctx_${hash.digest('base64url').slice(0, LENGTH)}`;
}
