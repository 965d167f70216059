import type { JsonValue } from '../../common/index.js';
import type { Decision, StepName, WaitingRequest } from '../../run/index.js';
import type { SuspendOptions, SuspensionAnswer } from '../../tool/index.js';
import { inputRequest, type PlacedCall } from './waiting-request.factory.js';

/** A question as the journal has it: what people are shown, and what is between the tool and itself. */
export type RecordedQuestion = WaitingRequest & { readonly memo?: JsonValue; readonly takes_denial?: true };

/** @param at the place of the invocation that asked */
export function suspendStep({ call }: PlacedCall, at: string): StepName {
  return { kind: 'suspend', place: at, subject: call.name };
}

/** @param at the place of the invocation that asked */
export function recordQuestion(placed: PlacedCall, at: string, asked: SuspendOptions): RecordedQuestion {
  const { memo, takesDenial } = asked;
  return {
    ...inputRequest(placed, at, asked),
    ...(memo !== undefined && { memo }),
    ...(takesDenial && { takes_denial: true }),
  };
}

/** What people are shown of a question. */
export function shownQuestion({ memo: _memo, takes_denial: _takes, ...request }: RecordedQuestion): WaitingRequest {
  return request;
}

/** What the tool is called again with; `null` when it is not called again. */
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
