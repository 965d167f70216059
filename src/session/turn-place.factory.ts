import type { RowPlace, SealedTable } from '../security/index.js';

export function turnPlace(tenant: string, sessionId: string, turn: number): RowPlace {
  return { tenant, column: 'session_turn.messages', owner: sessionId, row: turn };
}

/** Everything of sessions that is encrypted at rest. */
export const SESSION_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'session_turn',
    key: ['tenant', 'session_id', 'turn'],
    columns: [
      {
        name: 'messages',
        place: (row) => turnPlace(row['tenant'] as string, row['session_id'] as string, row['turn'] as number),
      },
    ],
  },
];
