import type { RowPlace, SealedTable, StoredRow } from '../../security/encryption/index.js';
import type { StateType } from '../tool-state.types.js';

/** Owner of encrypted data: tenant and id of a context. */
export interface ContextOwner {
  readonly tenant: string;
  readonly id: string;
}

export function statePlace({ tenant, id }: ContextOwner, type: StateType, version: number): RowPlace {
  return { tenant, column: 'tool_state_entry.data', owner: id, row: type, version };
}

export function versionPlace({ tenant, id }: ContextOwner, version: number): RowPlace {
  return { tenant, column: 'tool_state_version.data', owner: id, row: version };
}

export function historyPlace({ tenant, id }: ContextOwner, n: number): RowPlace {
  return { tenant, column: 'tool_state_history.data', owner: id, row: n };
}

export function changePlace({ tenant, id }: ContextOwner, change: string): RowPlace {
  return { tenant, column: 'tool_state_change.data', owner: id, row: change };
}

const ownerOf = (row: StoredRow): ContextOwner => ({
  tenant: row['tenant'] as string,
  id: row['context_id'] as string,
});

/** All tables of tool states in the journal's database with encrypted columns. */
export const TOOL_STATE_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'tool_state_entry',
    key: ['context_id', 'type'],
    also: ['tenant', 'version'],
    columns: [
      {
        name: 'data',
        place: (row) => statePlace(ownerOf(row), row['type'] as StateType, row['version'] as number),
      },
    ],
  },
  {
    name: 'tool_state_version',
    key: ['context_id', 'version'],
    also: ['tenant'],
    columns: [{ name: 'data', place: (row) => versionPlace(ownerOf(row), row['version'] as number) }],
  },
  {
    name: 'tool_state_history',
    key: ['context_id', 'n'],
    also: ['tenant'],
    columns: [{ name: 'data', place: (row) => historyPlace(ownerOf(row), row['n'] as number) }],
  },
  {
    name: 'tool_state_change',
    key: ['id'],
    also: ['tenant', 'context_id'],
    columns: [{ name: 'data', place: (row) => changePlace(ownerOf(row), row['id'] as string) }],
  },
];
