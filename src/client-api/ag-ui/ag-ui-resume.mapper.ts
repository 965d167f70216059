import { z } from 'zod';
import type { GivenDecision } from '../../agent/index.js';
import type { WaitingRequest } from '../../run/index.js';
import { invalid } from '../client-conversation.js';
import { type InterruptName, parseInterruptId } from './ag-ui-id.js';
import type { ResumeEntry } from './ag-ui-input.schema.js';

/** An answer to an interrupt, with its place in the request. */
export interface InterruptAnswer extends InterruptName {
  readonly entry: ResumeEntry;
  readonly at: string;
}

const approval = z.object({
  approved: z.boolean(),
  editedArgs: z.record(z.string(), z.unknown()).optional(),
  reason: z.string().optional(),
});
const settlement = z.object({
  outcome: z.enum(['retry', 'succeeded', 'failed']),
  result: z.unknown().optional(),
  error: z.string().optional(),
});

/** @throws AppError `VALIDATION_FAILED` for an id of another server, and for two answers to one interrupt */
export function toAnswers(entries: readonly ResumeEntry[]): InterruptAnswer[] {
  const ids = new Set<string>();
  return entries.map((entry, index) => {
    const { interruptId: id } = entry;
    const at = `resume.${index}`;
    const name = parseInterruptId(id);
    if (!name) throw invalid(`${at}.interruptId`, 'is not the id of an interrupt of this server', id);
    if (ids.has(id)) throw invalid(`${at}.interruptId`, 'is answered twice', id);
    ids.add(id);
    return { ...name, entry, at };
  });
}

/**
 * The decision of an answer. An abandoned approval or question is denied; a run whose other requests are abandoned is
 * cancelled.
 * @throws AppError `VALIDATION_FAILED` for a payload that does not answer the request
 */
export function toDecision({ entry, at }: InterruptAnswer, { kind }: WaitingRequest): GivenDecision | 'cancel' {
  const isAbandoned = entry.status === 'cancelled';
  const place = `${at}.payload`;
  switch (kind) {
    case 'approval':
      return isAbandoned ? { kind: 'deny' } : toApproval(entry.payload, place);
    case 'input':
      return isAbandoned ? { kind: 'deny' } : { kind: 'input', value: entry.payload ?? null };
    case 'outcome_unknown':
      return isAbandoned ? 'cancel' : toSettlement(entry.payload, place);
    case 'restored':
      return isAbandoned ? 'cancel' : { kind: 'release' };
    case 'child':
      throw invalid(`${at}.interruptId`, 'waits for another run: answer the interrupts of that run', entry.interruptId);
  }
}

function toApproval(payload: unknown, at: string): GivenDecision {
  const parsed = approval.safeParse(typeof payload === 'boolean' ? { approved: payload } : payload);
  if (!parsed.success) throw invalid(at, 'must be `{approved, editedArgs?, reason?}`', payload);
  const { approved, editedArgs, reason } = parsed.data;
  if (approved) return { kind: 'approve', ...(editedArgs && { arguments: editedArgs }) };
  return { kind: 'deny', ...(reason !== undefined && { reason }) };
}

function toSettlement(payload: unknown, at: string): GivenDecision {
  const parsed = settlement.safeParse(payload);
  if (!parsed.success) throw invalid(at, 'must be `{outcome, result?, error?}`', payload);
  const { outcome, result, error } = parsed.data;
  return {
    kind: 'settle',
    outcome,
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
  };
}
