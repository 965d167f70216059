import type { ClientCall } from '../client-call-id.js';

const ID = /^approval_([\w-]+)_(\d+)_(\d+)$/;

/** The id of an approval request: it names the run and the step, so that a later request with the decision finds them. */
export function toApprovalId({ runId, step }: ClientCall): string {
  const [, iteration, at] = step.split(':');
  return `approval_${runId}_${iteration}_${at}`;
}

/** @returns `undefined` for an id of another server */
export function parseApprovalId(id: string): ClientCall | undefined {
  const [, runId, iteration, at] = ID.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, step: `tool:${iteration}:${at}` };
}
