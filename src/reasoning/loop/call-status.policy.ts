import type { ToolCall } from '../../llm/chat/index.js';
import { unreachable, type RunContext } from '../../run/context/index.js';
import type { Decision } from '../../run/decision/index.js';
import type { SuspensionAnswer } from '../../tool/index.js';
import type { Tool } from '../../tool/method/index.js';
import { type RecordedQuestion, suspendStep, toSuspensionAnswer } from './recorded-question.mapper.js';
import { invocationPlace, requestId, type PlacedCall } from './waiting-request.factory.js';

interface Given {
  readonly answer?: SuspensionAnswer;
}

/** Status of a call by the records of earlier executions. `at` is the place of its last invocation. */
export type CallStatus =
  /** Ready for its n-th invocation, with the answer to its last question, if any. */
  | (Given & { readonly kind: 'ready'; readonly n: number })
  /** Suspended with a question that has no answer yet. */
  | { readonly kind: 'asked'; readonly at: string }
  /** Its n-th invocation started and has no recorded outcome. */
  | (Given & { readonly kind: 'unknown'; readonly at: string; readonly n: number })
  /** Decided, without a further invocation. */
  | { readonly kind: 'decided'; readonly about: 'input' | 'outcome_unknown'; readonly decision: Decision };

/** Follows a call's invocations from the first to the last one. */
export async function statusOf(placed: PlacedCall): Promise<CallStatus> {
  let given: Given = {};
  for (let n = 1; ; n++) {
    const status = await statusAt(placed, n, given);
    if ('kind' in status) return status;
    given = status;
  }
}

/** Status by the n-th invocation; without `kind`, the next invocation follows, with this answer. */
async function statusAt(placed: PlacedCall, n: number, given: Given): Promise<CallStatus | Given> {
  const { place } = placed;
  const { run } = placed.loop;
  const at = invocationPlace(place, n);
  if (run.isRecorded({ kind: 'suspend', place: at })) return answered(placed, at);
  if (!run.isRecorded({ kind: 'claim', place: at })) return { ...given, kind: 'ready', n };
  const decision = run.answer(requestId('outcome_unknown', at));
  if (decision) return isRetry(decision) ? given : { kind: 'decided', about: 'outcome_unknown', decision };
  return wasStarted(run, invocationPlace(place, n + 1)) ? given : { ...given, kind: 'unknown', at, n };
}

async function answered(placed: PlacedCall, at: string): Promise<CallStatus | Given> {
  const { run } = placed.loop;
  const decision = run.answer(requestId('input', at));
  if (!decision) return { kind: 'asked', at };
  const question = await run.step<RecordedQuestion>(suspendStep(placed, at), unreachable);
  const answer = toSuspensionAnswer(question, decision);
  return answer ? { answer } : { kind: 'decided', about: 'input', decision };
}

function isRetry(decision: Decision): boolean {
  return decision.kind === 'settle' && decision.outcome === 'retry';
}

/** Whether an invocation was started. If so, reconciliation found that the previous one did not happen. */
function wasStarted(run: RunContext, at: string): boolean {
  return run.isRecorded({ kind: 'claim', place: at }) || run.isRecorded({ kind: 'suspend', place: at });
}

/** Identity of a call: its name and arguments. */
export function callKey({ name, arguments: args }: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${name}\n${args}`;
}

/** Whether calls of the tool may have to follow each other: they may share a resource or a state. */
export function isOrdered(tool: Tool | undefined): boolean {
  return tool?.metadata.resources !== undefined || tool?.metadata.state !== undefined;
}
