import type { ToolCall } from '../../llm/chat/index.js';
import type { WaitingKind, WaitingRequest } from '../../run/decision/index.js';
import type { CheckedCall, SuspendOptions } from '../../tool/index.js';
import type { ApprovalNeed } from '../../tool/decision/index.js';
import { coverageOf } from '../../tool-policy/index.js';
import type { CallLoop } from '../reasoning.types.js';

/** Kinds of requests about a call. */
type CallRequestKind = Exclude<WaitingKind, 'restored'>;

const PREFIXES: Readonly<Record<CallRequestKind, string>> = {
  approval: 'approval',
  input: 'input',
  outcome_unknown: 'settle',
  child: 'child',
};

const CUT_OFF = 'The call started before the server stopped; its outcome was not recorded.';

/** A call with its place in the run. */
export interface PlacedCall {
  readonly loop: CallLoop;
  readonly call: ToolCall;
  /** `<iteration>:<call>`, counted from 1. */
  readonly place: string;
  /** The call's position in its reply, counted from 0. */
  readonly index: number;
  /** Maximum time in the tool's queue, in ms; by default the tool's own limit. */
  readonly mayWaitMs: number | undefined;
}

/** Leaves the step of a call without a result; the question is recorded in a step of its own. */
export class Suspended extends Error {
  constructor(readonly options: SuspendOptions) {
    super('The call waits for a person.');
  }
}

/** Leaves the step of a call that may have happened; a person settles its outcome. */
export class Undecided extends Error {}

/** The place of a call's n-th invocation, counted from 1: the place itself, then with `:r2` and so on. */
export function invocationPlace(place: string, n: number): string {
  return n === 1 ? place : `${place}:r${n}`;
}

/** The id of a request; its answer is the step `answer:<id>`. */
export function requestId(kind: CallRequestKind, place: string): string {
  return `${PREFIXES[kind]}:${place}`;
}

/** Recorded when it is created, so that a replay repeats its text and expiry. */
export function approvalRequest(
  placed: PlacedCall,
  planned: ApprovalNeed & Partial<CheckedCall>,
): Promise<WaitingRequest> {
  const { reason, by, because, isCoverable, tool, input } = planned;
  const approvers = by === 'another' ? { by_another: true as const } : by && { by_roles: [...by] };
  const cause = because && { facts: [...because.facts], settings: [...because.settings] };
  const covers = isCoverable && tool ? coverageOf({ tool, input }) : undefined;
  const need = { reason, ...cause, ...(covers && { covers }), ...approvers };
  return recorded(placed, { ...base(placed, 'approval', placed.place), ...need, expires_at: expiry(placed) });
}

/** @param at the place of the invocation without a recorded outcome */
export function settlementRequest(placed: PlacedCall, at: string, reason = CUT_OFF): Promise<WaitingRequest> {
  return recorded(placed, { ...base(placed, 'outcome_unknown', at), reason, expires_at: expiry(placed) });
}

/** @param at the place of the invocation that asked */
export function inputRequest(placed: PlacedCall, at: string, options: SuspendOptions): WaitingRequest {
  const { question, schema, expiresInMs } = options;
  const isClient = placed.loop.tools.get(placed.call.name)?.metadata.isClient;
  return {
    ...base(placed, 'input', at),
    ...(isClient && { by_client: true }),
    question,
    ...(schema && { schema }),
    expires_at: expiry(placed, expiresInMs),
  };
}

/** Not recorded: the requests of the child run may differ each time. */
export function childRequest(
  placed: PlacedCall,
  child_run_id: string,
  requests: readonly WaitingRequest[],
): WaitingRequest {
  const wanted = requests.map(({ kind, tool }) => `${kind} (${tool})`).join(', ');
  const reason = `Run "${child_run_id}" waits for ${wanted}: decide there.`;
  return { ...base(placed, 'child', placed.place), reason, child_run_id, expires_at: null };
}

function base<Kind extends CallRequestKind>({ call, place }: PlacedCall, kind: Kind, at: string) {
  const { id: call_id, name: tool, arguments: args } = call;
  return { id: requestId(kind, at), kind, step: `tool:${place}`, call_id, tool, arguments: args };
}

function expiry({ loop }: PlacedCall, expiresInMs?: number): number | null {
  const time = expiresInMs ?? loop.request.waiting?.expiresMs ?? null;
  return time === null ? null : Date.now() + time;
}

function recorded({ loop }: PlacedCall, request: WaitingRequest): Promise<WaitingRequest> {
  return loop.run.value(request.id, () => request);
}
