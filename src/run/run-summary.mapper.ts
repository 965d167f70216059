import { parseExactJson } from '../kernel/index.js';
import type { Cipher } from '../security/index.js';
import { runPlace } from './row-place.factory.js';
import type { RunRecord } from './run.types.js';
import type { RunResult, TerminalEvent } from './run-event.types.js';

/** The end of a run, retained when its journal is pruned; wire form. */
export interface RunSummary extends Omit<RunResult, 'result'> {
  /** The error of a failed run. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** The end of a run, as its row stores it. */
export interface StoredEnd {
  /** Sealed text; `null` if it is unknown. */
  readonly summary: string | null;
  /** The error code of a failed run. */
  readonly errorCode: string | null;
}

/** The end of a run without its text, encrypted for storage. */
export function toStoredEnd(
  { tenant, id }: Pick<RunRecord, 'tenant' | 'id'>,
  event: TerminalEvent,
  cipher: Cipher,
): StoredEnd {
  return {
    summary: cipher.seal(toRunSummary(event), runPlace(tenant, id, 'summary')),
    errorCode: event.type === 'run.failed' ? event.error.code : null,
  };
}

/** As JSON text. */
function toRunSummary(event: TerminalEvent): string {
  const { finish_reason, is_complete, iterations, usage, model } = event;
  const summary: RunSummary = {
    finish_reason,
    is_complete,
    iterations,
    usage,
    model,
    ...(event.type === 'run.failed' && { error: { code: event.error.code, message: event.error.message } }),
  };
  return JSON.stringify(summary);
}

/** @param text output of `toRunSummary`; `null` for an unfinished run and for runs from before summaries existed */
export function parseRunSummary(text: string | null): RunSummary | null {
  return text === null ? null : (parseExactJson(text) as RunSummary);
}
