import type { DataFact } from '../run/facts/index.js';
import { Cipher } from '../security/encryption/index.js';
import type { SessionKey, SessionRecord } from './session.types.js';
import { factsPlace, metadataPlace } from './turn-place.factory.js';

/** A row of the table `session`. */
export interface SessionRow {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly last_turn: number;
  readonly cleared_turn: number;
  readonly message_count: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly metadata: string | null;
  readonly tainted_turn: number | null;
  readonly private_turn: number | null;
  readonly data_facts: string | null;
  readonly parent_id: string | null;
}

/** The stored text of metadata; `null` for none. */
export function sealMetadata(key: SessionKey, metadata: SessionRecord['metadata'] = {}, cipher: Cipher): string | null {
  if (Object.keys(metadata).length === 0) return null;
  return cipher.seal(JSON.stringify(metadata), metadataPlace(key));
}

/** @throws AppError `STORED_DATA_INVALID`, `DATA_TAMPERED` for a damaged row */
export function toSession(row: SessionRow, cipher: Cipher): SessionRecord {
  const { metadata, data_facts: facts } = row;
  return {
    id: row.id,
    tenant: row.tenant,
    owner: row.owner,
    lastTurn: row.last_turn,
    clearedTurn: row.cleared_turn,
    messageCount: row.message_count,
    metadata: metadata === null ? {} : (cipher.openJson(metadata, metadataPlace(row)) as SessionRecord['metadata']),
    taintedTurn: row.tainted_turn,
    privateTurn: row.private_turn,
    dataFacts: facts === null ? [] : (Cipher.parse(facts, factsPlace(row)) as DataFact[]),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    parentId: row.parent_id,
  };
}

/** A session of a list: a damaged row does not hide the others. */
export function toListedSession(row: SessionRow, cipher: Cipher): SessionRecord {
  try {
    return toSession(row, cipher);
  } catch (error) {
    if (!Cipher.isDamage(error)) throw error;
    return { ...toSession({ ...row, metadata: null, data_facts: null }, cipher), isDamaged: true };
  }
}
