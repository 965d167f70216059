import { createHash } from 'node:crypto';
import type { ContextKey } from './tool-state.types.js';

const LENGTH = 32;

/** Id of a key's context: a deterministic hash, which does not reveal the key. */
export function contextIdOf({ tenant, session, tool }: ContextKey): string {
  const hash = createHash('sha256').update(JSON.stringify([tenant, session, tool]));
  return `ctx_${hash.digest('base64url').slice(0, LENGTH)}`;
}
