import { AppError } from '../errors/index.js';
import { fieldMistake, ID_RULE, isId } from '../kernel/index.js';
import type { RowPlace, SealedTable, StoredRow } from '../security/encryption/index.js';
import type { SessionKey } from './session.types.js';

/** @param field path of the id in the request @throws AppError `VALIDATION_FAILED` for an invalid id */
export function assertSessionId(id: string, field = 'id'): void {
  if (isId(id)) return;
  const message = `must be ${ID_RULE}`;
  throw new AppError('VALIDATION_FAILED', `The session id ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isSessionId', id)] },
  });
}

export function turnPlace({ tenant, id }: SessionKey, turn: number): RowPlace {
  return { tenant, column: 'session_turn.messages', owner: id, row: turn };
}

export function metadataPlace({ tenant, id }: SessionKey): RowPlace {
  return { tenant, column: 'session.metadata', owner: id, row: '' };
}

export function factsPlace({ tenant, id }: SessionKey): RowPlace {
  return { tenant, column: 'session.data_facts', owner: id, row: '' };
}

export function summaryPlace({ tenant, id }: SessionKey, through: number): RowPlace {
  return { tenant, column: 'session_summary.summary', owner: id, row: through };
}

function keyOf(row: StoredRow): SessionKey {
  return { tenant: row['tenant'] as string, id: (row['session_id'] ?? row['id']) as string };
}

/** The columns of conversations that are encrypted at rest. */
export const CONVERSATION_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'session_turn',
    key: ['tenant', 'session_id', 'turn'],
    columns: [{ name: 'messages', place: (row) => turnPlace(keyOf(row), row['turn'] as number) }],
  },
  {
    name: 'session',
    key: ['tenant', 'id'],
    columns: [{ name: 'metadata', place: (row) => metadataPlace(keyOf(row)) }],
  },
  {
    name: 'session_summary',
    key: ['tenant', 'session_id', 'through'],
    columns: [{ name: 'summary', place: (row) => summaryPlace(keyOf(row), row['through'] as number) }],
  },
];
