import { AppError, untilAborted } from '../../common/index.js';
import type { RunContext, StepName, ToolStarted, UnknownCall } from '../../run/index.js';
import { ToolExecutor, type PlannedCall, type ToolResult } from '../../tool/index.js';
import type { ToolCall } from '../../llm/index.js';
import type { Loop } from '../reasoning.types.js';

export type CallOutcome =
  { readonly kind: 'result'; readonly result: ToolResult } | { readonly kind: 'unknown'; readonly call: UnknownCall };

/** One call of a reply as steps of the run: planned, claimed if it must not happen twice, invoked, recorded. */
export class CallExecutor {
  constructor(private readonly tools: ToolExecutor) {}

  /** @param place the call's place in its reply, counted from 1 */
  async execute(loop: Loop, call: ToolCall, place: number): Promise<CallOutcome> {
    const { run, iteration } = loop;
    const step: StepName = { kind: 'tool', place: `${iteration}:${place}`, subject: call.name };
    if (run.isRecorded(step)) return result(await run.step(step, unreachable));
    // Neither a cancel nor the loss of the tool makes it known what became of an earlier execution's claim.
    if (run.isRecorded({ ...step, kind: 'claim' })) return unknown(call, step);
    run.signal.throwIfAborted();
    const planned = await untilAborted(this.plan(loop, call), run.signal);
    const started: ToolStarted = {
      type: 'tool.started',
      iteration,
      call_id: call.id,
      tool: call.name,
      arguments: call.arguments,
    };
    if (planned.kind === 'run' && planned.tool.metadata.effect === 'once') {
      if ((await run.claim(step.place, started)) === 'unknown') return unknown(call, step);
    } else run.emit(started);
    return result(await run.step(step, () => this.carryOut(loop, call, step, planned)));
  }

  private async plan(loop: Loop, call: ToolCall): Promise<PlannedCall> {
    const { maxIterations } = loop.request.limits;
    if (loop.iteration < maxIterations) return this.tools.plan(call, loop.tools);
    const error = `Not executed: the run reached its limit of ${maxIterations} iterations.`;
    return {
      kind: 'rejected',
      result: { tool: call.name, success: false, error, code: 'TOOL_CANCELLED', execution_time_ms: 0 },
    };
  }

  private async carryOut(loop: Loop, call: ToolCall, step: StepName, planned: PlannedCall): Promise<ToolResult> {
    const { run, request } = loop;
    const given =
      planned.kind === 'rejected'
        ? planned.result
        : await this.tools.invoke(planned, toContext(run, call, step), {
            maxResultBytes: request.limits.maxResultBytes,
          });
    if (isInterrupted(given, run.signal)) throw run.signal.reason;
    const done = loop.failed.has(callKey(call)) ? withReminder(given) : given;
    run.emit({ type: 'tool.completed', iteration: loop.iteration, call_id: call.id, ...done });
    return done;
  }
}

function toContext(run: RunContext, call: ToolCall, step: StepName) {
  return {
    principal: run.principal,
    sessionId: run.sessionId,
    runId: run.runId,
    callId: call.id,
    key: `${run.runId}:tool:${step.place}`,
    signal: run.signal,
  };
}

/** A call that only stopped because the run goes on elsewhere has no result yet. */
function isInterrupted(done: ToolResult, signal: AbortSignal): boolean {
  if (done.success || done.code !== 'TOOL_CANCELLED' || !(signal.reason instanceof AppError)) return false;
  return signal.reason.code !== 'RUN_CANCELLED' && signal.reason.code !== 'RUN_TIMEOUT';
}

/** What makes two calls the same. */
export function callKey({ name, arguments: args }: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${name}\n${args}`;
}

/** A model that only repeats a failing call is told so, or it repeats it until the limit. */
function withReminder(done: ToolResult): ToolResult {
  if (done.success) return done;
  const reminder = 'You made the same call before and it failed: change its arguments, or answer without it.';
  return { ...done, error: `${done.error} ${reminder}` };
}

function result(value: ToolResult): CallOutcome {
  return { kind: 'result', result: value };
}

function unknown(call: ToolCall, { place }: StepName): CallOutcome {
  return { kind: 'unknown', call: { step: `tool:${place}`, call_id: call.id, tool: call.name } };
}

function unreachable(): Promise<ToolResult> {
  throw new AppError('INTERNAL', 'A recorded step was executed again.');
}
