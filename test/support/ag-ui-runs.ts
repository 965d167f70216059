import { type Arbitrary, array, boolean, constantFrom, oneof, option, record, string } from 'fast-check';
import type { ClientWait } from '../../src/client-api/interrupts/interrupt.js';
import { toInterrupt } from '../../src/client-api/interrupts/run-wait.service.js';
import { toClientCallId } from '../../src/client-api/client-call-id.js';
import { NO_USAGE, type RunEvent } from '../../src/run/event/run-event.types.js';
import type { WaitingRequest } from '../../src/run/decision/waiting-request.types.js';

export const RUN_ID = 'run-1';

interface Call {
  readonly tool: string;
  readonly args: string;
  readonly kind: 'server' | 'client' | 'approval' | 'child' | 'never';
  readonly isSuccess: boolean;
}

interface Reply {
  readonly thoughts: readonly string[];
  /** The texts of attempts before the last one, each sent in part. */
  readonly attempts: readonly string[];
  readonly text: string;
  /** Whether the text was streamed, or arrives whole. */
  readonly isStreamed: boolean;
  readonly calls: readonly Call[];
  readonly extras: readonly RunEvent[];
}

export interface Run {
  readonly replies: readonly Reply[];
  readonly end: 'completed' | 'failed' | 'cancelled' | 'closed';
  /** The result, if it is not the last text. */
  readonly result: string | null;
}

const text = oneof(constantFrom('', ' ', 'Hello', 'Hello there', '😀 ok'), string({ maxLength: 12, unit: 'binary' }));

const call: Arbitrary<Call> = record({
  tool: constantFrom('pay', 'look'),
  args: constantFrom('', '{}', '{"a":1}'),
  kind: constantFrom('server', 'client', 'approval', 'child', 'never'),
  isSuccess: boolean(),
});

const extra: Arbitrary<RunEvent> = constantFrom<RunEvent>(
  { type: 'usage', iteration: 1, model: 'm', ...NO_USAGE },
  { type: 'usage', iteration: 0, model: 'm', ...NO_USAGE },
  { type: 'policy.decided', policy: 'content', on: 'input', decision: 'masked', iteration: 0, reason: 'x' },
  { type: 'policy.decided', run_id: RUN_ID, request_id: 'r', call_id: 'c', tool: 't', decision: 'expired', by: null },
  { type: 'model.cached', iteration: 1, model: 'm' },
  { type: 'model.switched', iteration: 1, from: 'a', to: 'b', code: 'MODEL_TIMEOUT' },
  { type: 'history.repaired', session_id: null, turns: [1] },
  { type: 'run.resumed', run_id: RUN_ID, attempt: 2 },
  { type: 'state.changed', iteration: 1, call_id: 'c', tool: 't', context_id: 'x' },
  { type: 'step.started', step: 'model:1' },
);

const reply: Arbitrary<Reply> = record({
  thoughts: array(text, { maxLength: 2 }),
  attempts: array(text, { maxLength: 2 }),
  text,
  isStreamed: boolean(),
  calls: array(call, { maxLength: 3 }),
  extras: array(extra, { maxLength: 3 }),
});

/** Runs of any course. */
export const runs: Arbitrary<Run> = record({
  replies: array(reply, { minLength: 1, maxLength: 4 }),
  end: constantFrom('completed', 'failed', 'cancelled', 'closed'),
  result: option(text),
});

/** Splits a text into the deltas of a stream, also inside of surrogate pairs. */
function deltas(whole: string, iteration: number): RunEvent[] {
  return whole.split('').map((piece) => ({ type: 'message.delta', iteration, text: piece }));
}

function replyEvents(
  { thoughts, attempts, text: whole, isStreamed, calls, extras }: Reply,
  iteration: number,
): RunEvent[] {
  const streamed = [...attempts, ...(isStreamed ? [whole] : [])].flatMap((attempt, at): RunEvent[] => [
    ...(at > 0 ? [{ type: 'step.restarted', iteration, text: attempt.slice(0, 3) } as const] : []),
    ...deltas(at > 0 ? attempt.slice(3) : attempt, iteration),
  ]);
  return [
    ...streamed,
    ...extras.map((event) => ('iteration' in event && event.iteration === 1 ? { ...event, iteration } : event)),
    ...thoughts.map((thought) => ({ type: 'thought', iteration, text: thought }) as const),
    {
      type: 'message.completed',
      iteration,
      text: whole,
      finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      // Models may use an id again in a later reply.
      tool_calls: calls.map(({ tool, args }, at) => ({ id: `c${at}`, name: tool, arguments: args })),
    },
  ];
}

function toRequest({ tool, args, kind }: Call, iteration: number, at: number): WaitingRequest {
  return {
    id: `${kind}:${iteration}:${at + 1}`,
    kind: kind === 'approval' ? 'approval' : 'input',
    step: `tool:${iteration}:${at + 1}`,
    call_id: `c${at}`,
    tool,
    arguments: args,
    ...(kind === 'client' && { by_client: true as const }),
    expires_at: at === 0 ? null : 1_700_000_000_000,
  };
}

function executed({ tool, args, kind, isSuccess }: Call, iteration: number, at: number): RunEvent[] {
  const about = { iteration, call_id: `c${at}`, tool };
  const child = kind === 'child' ? { child_run_id: `child-${iteration}-${at}` } : {};
  if (kind === 'never') return [];
  return [
    { type: 'tool.started', ...about, arguments: args, ...child },
    { type: 'tool.progress', ...about, progress: 1 },
    {
      type: 'tool.completed',
      ...about,
      success: isSuccess,
      ...(isSuccess ? { result: { n: 1 } } : { error: 'no', code: 'TOOL_FAILED' }),
      execution_time_ms: 1,
      ...child,
    },
  ];
}

function endEvent({ end, result, replies }: Run): RunEvent {
  const facts = {
    run_id: RUN_ID,
    result: result ?? replies.at(-1)!.text,
    finish_reason: 'stop',
    is_complete: true,
    iterations: replies.length,
    usage: NO_USAGE,
    model: 'm',
  } as const;
  switch (end) {
    case 'completed':
      return { type: 'run.completed', ...facts, output: null };
    case 'failed':
      return { type: 'run.failed', ...facts, error: { code: 'RUN_TIMEOUT', message: 'late', is_retryable: false } };
    case 'cancelled':
      return { type: 'run.cancelled', ...facts };
    case 'closed':
      return { type: 'stream.closed', run_id: RUN_ID, code: 'SHUTTING_DOWN' };
  }
}

/** A response: the run events that it maps, and the wait at its end. */
export interface Part {
  readonly events: readonly RunEvent[];
  readonly wait?: ClientWait;
}

const isLater = ({ kind }: Call) => kind === 'client' || kind === 'approval';

function waitPart(requests: readonly WaitingRequest[], before: readonly RunEvent[]): Part {
  const [{ kind, by_client: isByClient }] = requests as [WaitingRequest];
  const events = [...before, { type: 'run.waiting', run_id: RUN_ID, reason: kind, requests } as const];
  if (isByClient)
    return { events, wait: { calls: requests.map(({ step }) => toClientCallId({ runId: RUN_ID, step })) } };
  return { events, wait: { interrupts: requests.map((request) => toInterrupt({ runId: RUN_ID, request })) } };
}

/** The responses of a run: one more for each wait. The client's calls come before the decisions of people. */
export function responses(run: Run): Part[] {
  const parts: Part[] = [];
  let events: RunEvent[] = [{ type: 'run.started', run_id: RUN_ID, session_id: null, agent: 'a' }];
  for (const [index, each] of run.replies.entries()) {
    const iteration = index + 1;
    const execute = (isWanted: (one: Call) => boolean) =>
      each.calls.flatMap((one, at) => (isWanted(one) ? executed(one, iteration, at) : []));
    events.push(...replyEvents(each, iteration), ...execute((one) => !isLater(one)));
    for (const kind of ['client', 'approval'] as const) {
      const requests = each.calls.flatMap((one, at) => (one.kind === kind ? [toRequest(one, iteration, at)] : []));
      if (requests.length === 0) continue;
      parts.push(waitPart(requests, events));
      events = [{ type: 'run.resumed', run_id: RUN_ID, attempt: 2 }, ...execute((one) => one.kind === kind)];
    }
  }
  return [...parts, { events: [...events, endEvent(run)] }];
}
