import type { JsonValue } from '../../kernel/json/index.js';
import type { StepName } from '../../run/context/index.js';
import type { Decision, WaitingRequest } from '../../run/decision/index.js';
import type { SuspendOptions, SuspensionAnswer } from '../../tool/index.js';
import { inputRequest, type PlacedCall } from './waiting-request.factory.js';

/** A question as recorded in the journal: the public request, and the tool's private data. */
export type RecordedQuestion = WaitingRequest & { readonly memo?: JsonValue; readonly takes_denial?: true };

/** @param at the place of the invocation that asked */
export function suspendStep({ call }: PlacedCall, at: string): StepName {
  return { kind: 'suspend', place: at, subject: call.name };
}

/** @param at the place of the invocation that asked */
export function recordQuestion(placed: PlacedCall, at: string, options: SuspendOptions): RecordedQuestion {
  const { memo, takesDenial } = options;
  return {
    ...inputRequest(placed, at, options),
    ...(memo !== undefined && { memo }),
    ...(takesDenial && { takes_denial: true }),
  };
}

/** The public part of a question. */
export function shownQuestion({ memo: _memo, takes_denial: _takes, ...request }: RecordedQuestion): WaitingRequest {
  return request;
}

/** The input of the tool's next invocation; `null` if the tool is not invoked again. */
export function toSuspensionAnswer(
  { memo, takes_denial }: RecordedQuestion,
  decision: Decision,
): SuspensionAnswer | null {
  const given = { by: decision.by ?? '', ...(memo !== undefined && { memo }) };
  if (decision.kind === 'input') return { value: decision.value, ...given };
  if (decision.kind !== 'deny' || !takes_denial) return null;
  const { reason } = decision;
  return { value: null, ...given, denied: reason === undefined ? {} : { reason } };
}
