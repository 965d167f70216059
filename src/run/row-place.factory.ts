import type { RowPlace, SealedTable } from '../security/index.js';

/** The encrypted columns of `run`. */
export type SealedRunColumn = 'principal' | 'input' | 'preview' | 'summary';

export function runPlace(tenant: string, runId: string, column: SealedRunColumn): RowPlace {
  return { tenant, column: `run.${column}`, owner: runId, row: '' };
}

export function stepPlace(tenant: string, runId: string, name: string): RowPlace {
  return { tenant, column: 'run_step.result', owner: runId, row: name };
}

export function eventPlace(tenant: string, runId: string, n: number): RowPlace {
  return { tenant, column: 'run_event.data', owner: runId, row: n };
}

/** Encrypted, as a definition may contain instructions of a request. */
export function definitionPlace(tenant: string, hash: string): RowPlace {
  return { tenant, column: 'run_definition.content', owner: hash, row: '' };
}

const runColumn = (name: SealedRunColumn) => ({
  name,
  place: ({ tenant, id }: Readonly<Record<string, unknown>>) => runPlace(tenant as string, id as string, name),
});

/** All encrypted columns of runs. */
export const RUN_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'run',
    key: ['id'],
    also: ['tenant'],
    columns: [runColumn('principal'), runColumn('input'), runColumn('preview'), runColumn('summary')],
  },
  {
    name: 'run_step',
    key: ['run_id', 'name'],
    also: ['tenant'],
    columns: [
      {
        name: 'result',
        place: (row) => stepPlace(row['tenant'] as string, row['run_id'] as string, row['name'] as string),
      },
    ],
  },
  {
    name: 'run_event',
    key: ['run_id', 'n'],
    also: ['tenant'],
    columns: [
      {
        name: 'data',
        place: (row) => eventPlace(row['tenant'] as string, row['run_id'] as string, row['n'] as number),
      },
    ],
  },
  {
    name: 'run_definition',
    key: ['tenant', 'hash'],
    columns: [{ name: 'content', place: (row) => definitionPlace(row['tenant'] as string, row['hash'] as string) }],
  },
];
