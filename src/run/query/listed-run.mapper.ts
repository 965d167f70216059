import { Cipher } from '../../security/encryption/index.js';
import { runPlace, type RunSummary } from '../run-record.mapper.js';
import type { RunStatus } from '../run.types.js';

/** An entry of the run list. Times are epoch ms. */
export interface ListedRun {
  readonly id: string;
  /** Identifies the handler: `agent`, `workflow`, `tool`. */
  readonly kind: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** The source run of a fork. */
  readonly forkedFrom: string | null;
  /** The calling run. */
  readonly parentRunId: string | null;
  /** Time of the next attempt of a postponed run. */
  readonly notBefore: number | null;
  /** Code of the error that postponed the run last. */
  readonly outageCode: string | null;
  /** The error of a failed run. */
  readonly error: { readonly code: string; readonly message?: string } | null;
  /** The start of its question; `null` for runs of earlier versions and after its journal was deleted. */
  readonly preview: string | null;
  /** Number of decisions that a person makes; `null` if it is unknown, as a waiting run of an earlier version's. */
  readonly pending: number | null;
  /** When its journal was deleted. */
  readonly prunedAt: number | null;
  /** `null` for an unfinished run. */
  readonly summary: RunSummary | null;
  /** Whether the stored summary or preview is damaged. */
  readonly isDamaged?: true;
}

/** A row of `LISTED_COLUMNS`. */
export interface ListRow {
  readonly id: string;
  readonly kind: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly session_id: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly forked_from: string | null;
  readonly parent_run_id: string | null;
  readonly not_before: number | null;
  readonly outage_code: string | null;
  readonly error_code: string | null;
  readonly pending: number | null;
  readonly pruned_at: number | null;
  readonly summary: string | null;
  readonly preview: string | null;
}

export const LISTED_COLUMNS =
  'id, kind, status, agent, session_id, created_at, finished_at, forked_from, parent_run_id, not_before, outage_code, error_code, pending, pruned_at, summary, preview';

/** The start of a run's question; `null` if it is not stored or damaged. */
export function previewOf(
  { id, preview }: Pick<ListRow, 'id' | 'preview'>,
  tenant: string,
  cipher: Cipher,
): string | null {
  if (preview === null) return null;
  return readable(() => cipher.openJson(preview, runPlace(tenant, id, 'preview')) as string);
}

/** Damaged texts do not hide the run. */
export function toListedRun(row: ListRow, tenant: string, cipher: Cipher): ListedRun {
  const { id } = row;
  const summary =
    row.summary === null ? null : readable(() => cipher.openJson(row.summary!, runPlace(tenant, id, 'summary')));
  const preview = previewOf(row, tenant, cipher);
  const isDamaged = (row.summary !== null && summary === null) || (row.preview !== null && preview === null);
  const ended = summary as RunSummary | null;
  return {
    id,
    kind: row.kind,
    status: row.status,
    agent: row.agent,
    sessionId: row.session_id,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    forkedFrom: row.forked_from,
    parentRunId: row.parent_run_id,
    notBefore: row.not_before,
    outageCode: row.outage_code,
    error: ended?.error ?? (row.error_code === null ? null : { code: row.error_code }),
    preview,
    pending: row.status === 'waiting' ? row.pending : 0,
    prunedAt: row.pruned_at,
    summary: ended,
    ...(isDamaged && { isDamaged }),
  };
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!Cipher.isDamage(error)) throw error;
    return null;
  }
}
