import { AppError, messageOf } from '../../errors/index.js';
import { fieldMistake, type FieldMistake, type Principal } from '../../kernel/index.js';
import { type JsonValue, parseExactJson } from '../../kernel/json/index.js';
import {
  type AnsweredRequest,
  selectRequests,
  type Verdict,
  type WaitingKind,
  type WaitingRequest,
  type WaitingRun,
} from '../../run/decision/index.js';
import { createBoundedCheck } from '../../tool/input/index.js';

/** The call that an answer is for; optional where only one call is possible. */
export interface Addressed {
  readonly callId?: string;
}

/** Outcome of a call that a crash interrupted, as a person states it. */
export interface Settlement extends Addressed {
  readonly outcome: 'retry' | 'succeeded' | 'failed';
  /** Only with `succeeded`; default `null`. */
  readonly result?: unknown;
  /** Only with `failed`. */
  readonly error?: string;
}

/** A person's decision about one request. */
export type GivenDecision =
  | { readonly kind: 'approve'; readonly arguments?: Readonly<Record<string, unknown>> }
  | { readonly kind: 'deny'; readonly reason?: string }
  | { readonly kind: 'input'; readonly value: unknown }
  | ({ readonly kind: 'settle' } & Omit<Settlement, 'callId'>)
  | { readonly kind: 'release' };

/** The kinds of requests that a decision answers. */
const ANSWERED: Readonly<Record<GivenDecision['kind'], readonly WaitingKind[]>> = {
  approve: ['approval'],
  deny: ['approval', 'input'],
  input: ['input'],
  settle: ['outcome_unknown'],
  release: ['restored'],
};

/** A verdict of a person. */
export type PersonalVerdict = Exclude<Verdict, { readonly kind: 'expire' | 'join' }>;

export function toVerdict({ outcome, result, error }: Omit<Settlement, 'callId'>, { id }: Principal): PersonalVerdict {
  if (result !== undefined && outcome !== 'succeeded') {
    throw invalid('result', 'is only for the outcome "succeeded"', 'isMeant', result);
  }
  if (error !== undefined && outcome !== 'failed') {
    throw invalid('error', 'is only for the outcome "failed"', 'isMeant', error);
  }
  switch (outcome) {
    case 'retry':
      return { kind: 'settle', outcome };
    case 'succeeded':
      return { kind: 'settle', outcome, result: toJson('result', result ?? null) };
    case 'failed':
      return { kind: 'settle', outcome, error: error ?? `It failed, says "${id}".` };
  }
}

export async function assertFits({ schema }: WaitingRequest, value: JsonValue, hint = ''): Promise<void> {
  const checked = schema ? await createBoundedCheck(schema)(value) : { valid: true as const };
  if (checked.valid) return;
  const mistakes = checked.mistakes?.map((mistake) => ({ ...mistake, message: `${hint}${mistake.message}` }));
  throw invalid('value', `${hint}${checked.reason}`, 'isAnswer', value, mistakes);
}

export async function assertStillFits({ request, verdict, masked }: AnsweredRequest): Promise<void> {
  if (masked && verdict.kind === 'input')
    await assertFits(request, verdict.value, `with ${masked.found.join(', ')} masked: `);
}

/** Copies a value through JSON. */
export function toJson(field: string, value: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw invalid(field, `cannot be written as JSON: ${messageOf(error)}`, 'isJson', value);
  }
  if (text === undefined) throw invalid(field, 'must be a JSON value', 'isJson', value);
  return parseExactJson(text) as JsonValue;
}

/** @param mistakes one entry for each fault, if known */
export function invalid(
  field: string,
  reason: string,
  rule: string,
  value: unknown,
  mistakes?: readonly FieldMistake[],
): AppError {
  // A check of a schema names the field itself.
  const message = reason.startsWith(`"${field}`) ? reason : `${field}: ${reason}`;
  return new AppError('VALIDATION_FAILED', `Nothing was decided: ${message}.`, {
    details: { errors: mistakes ?? [fieldMistake(field, reason, rule, value)] },
  });
}

/** @throws AppError `RUN_NOT_WAITING` if the request is not open, also after its deadline */
export function selectById(waiting: WaitingRun, id: string): WaitingRequest {
  const request = waiting.requests.find((one) => one.id === id);
  const open = request && selectRequests(waiting, request.kind, request.call_id).find((one) => one.id === id);
  if (open) return open;
  throw new AppError('RUN_NOT_WAITING', `Run "${waiting.run.id}" does not wait for the decision "${id}".`);
}

/** @throws AppError `VALIDATION_FAILED` for a decision about a request of another kind */
export function assertAnswers({ id, kind }: WaitingRequest, given: GivenDecision): void {
  if (ANSWERED[given.kind].includes(kind)) return;
  throw invalid('kind', `"${given.kind}" does not answer the request "${id}" of the kind "${kind}"`, 'isKind', kind);
}
