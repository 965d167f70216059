import { AppError, untilAborted } from '../../common/index.js';
import type { ToolCall } from '../../llm/index.js';
import type { RunContext, StepName, ToolStarted, WaitingRequest } from '../../run/index.js';
import {
  failedResult,
  ToolExecutor,
  type Invoked,
  type PlannedCall,
  type Reconciled,
  type SuspendOptions,
  type SuspensionAnswer,
  type ToolContext,
  type ToolResult,
} from '../../tool/index.js';
import type { Loop } from '../reasoning.types.js';
import { standingOf, type CallStanding } from './call-standing.policy.js';
import { decidedResult } from './decided-result.factory.js';
import {
  approvalRequest,
  inputRequest,
  invocationPlace,
  requestId,
  settlementRequest,
  type PlacedCall,
} from './waiting-request.factory.js';

export type CallOutcome =
  | { readonly kind: 'result'; readonly result: ToolResult }
  /** A person must decide before it goes on. */
  | { readonly kind: 'waiting'; readonly request: WaitingRequest };

type Ready = Extract<CallStanding, { kind: 'ready' }>;
type Unknown = Extract<CallStanding, { kind: 'unknown' }>;

/** One call of a reply as steps of the run: planned, claimed if it must not happen twice, invoked, recorded. */
export class CallExecutor {
  constructor(private readonly tools: ToolExecutor) {}

  /** @param at the call's place in its reply, counted from 1 */
  async execute(loop: Loop, call: ToolCall, at: number): Promise<CallOutcome> {
    const placed: PlacedCall = { loop, call, place: `${loop.iteration}:${at}` };
    const { run } = loop;
    if (run.isRecorded(stepOf(placed))) return result(await run.step(stepOf(placed), unreachable));
    const standing = standingOf(run, placed.place);
    switch (standing.kind) {
      case 'asked':
        return waiting(await run.step(suspendStep(placed, standing.at), unreachable));
      case 'decided': {
        const { maxResultBytes } = loop.request.limits;
        return this.record(placed, decidedResult(call.name, standing.about, standing.decision, maxResultBytes));
      }
      case 'unknown':
        return this.findOut(placed, standing);
      case 'ready':
        return this.begin(placed, standing);
    }
  }

  /** Neither a cancel nor the loss of the tool makes it known what became of an earlier execution's claim. */
  private async findOut(placed: PlacedCall, { n, at, ...given }: Unknown): Promise<CallOutcome> {
    const reconciled = await this.reconcile(placed);
    switch (reconciled.kind) {
      case 'result':
        return this.record(placed, reconciled.result);
      case 'not_happened':
        return this.begin(placed, { ...given, kind: 'ready', n: n + 1 });
      case 'unknown':
        return waiting(await settlementRequest(placed, at));
    }
  }

  private async reconcile(placed: PlacedCall): Promise<Reconciled> {
    const { loop, call } = placed;
    const tool = loop.tools.get(call.name);
    if (!tool || loop.run.signal.aborted) return { kind: 'unknown' };
    return this.tools.reconcile(tool, toContext(placed), { maxResultBytes: loop.request.limits.maxResultBytes });
  }

  private async begin(placed: PlacedCall, { n, answer }: Ready): Promise<CallOutcome> {
    const { loop, call, place } = placed;
    const { run } = loop;
    run.signal.throwIfAborted();
    const id = requestId('approval', place);
    const approval = run.answer(id);
    if (approval && approval.kind !== 'approve') {
      return this.record(placed, decidedResult(call.name, 'approval', approval, loop.request.limits.maxResultBytes));
    }
    // What was asked stays asked, whatever a predicate says meanwhile.
    if (!approval && run.isRecorded({ kind: 'value', place: id })) return waiting(await approvalRequest(placed, ''));
    const planned = await untilAborted(this.plan(placed), run.signal);
    if (planned.kind === 'approval' && !approval) return waiting(await approvalRequest(placed, planned.reason));
    const at = invocationPlace(place, n);
    const isClaimed = await this.announce(placed, planned, at);
    return isClaimed ? this.carryOut(placed, planned, at, answer) : waiting(await settlementRequest(placed, at));
  }

  private async plan(placed: PlacedCall): Promise<PlannedCall> {
    const { loop, call } = placed;
    const { maxIterations } = loop.request.limits;
    if (loop.iteration < maxIterations) return this.tools.plan(call, loop.tools, toContext(placed));
    const error = `Not executed: the run reached its limit of ${maxIterations} iterations.`;
    return { kind: 'rejected', result: failedResult(call.name, 'TOOL_CANCELLED', error) };
  }

  /** @returns whether the call may be made: not when it was claimed before, so that it may have happened */
  private async announce({ loop, call }: PlacedCall, planned: PlannedCall, at: string): Promise<boolean> {
    const started: ToolStarted = {
      type: 'tool.started',
      iteration: loop.iteration,
      call_id: call.id,
      tool: call.name,
      arguments: call.arguments,
    };
    if (planned.kind !== 'rejected' && planned.tool.metadata.effect === 'once')
      return (await loop.run.claim(at, started)) === 'claimed';
    loop.run.emit(started);
    return true;
  }

  private async carryOut(
    placed: PlacedCall,
    planned: PlannedCall,
    at: string,
    answer?: SuspensionAnswer,
  ): Promise<CallOutcome> {
    const { run } = placed.loop;
    try {
      const action = async () => this.finish(placed, await this.invoke(placed, planned, answer));
      return result(await run.step(stepOf(placed), action));
    } catch (error) {
      if (!(error instanceof Suspended)) throw error;
      return waiting(await run.step(suspendStep(placed, at), async () => inputRequest(placed, at, error.asked)));
    }
  }

  private async invoke(placed: PlacedCall, planned: PlannedCall, answer?: SuspensionAnswer): Promise<ToolResult> {
    if (planned.kind === 'rejected') return planned.result;
    const { limits } = placed.loop.request;
    const context = { ...toContext(placed), ...(answer && { answer }) };
    const invoked: Invoked = await this.tools.invoke(planned, context, { maxResultBytes: limits.maxResultBytes });
    if (invoked.kind === 'suspended') throw new Suspended(invoked.asked);
    return invoked.result;
  }

  /** A result that needs no call. */
  private async record(placed: PlacedCall, given: ToolResult): Promise<CallOutcome> {
    return result(await placed.loop.run.step(stepOf(placed), async () => this.finish(placed, given)));
  }

  private finish({ loop, call }: PlacedCall, given: ToolResult): ToolResult {
    if (isInterrupted(given, loop.run.signal)) throw loop.run.signal.reason;
    const done = loop.failed.has(callKey(call)) ? withReminder(given) : given;
    loop.run.emit({ type: 'tool.completed', iteration: loop.iteration, call_id: call.id, ...done });
    return done;
  }
}

/** Leaves the step of a call without a result: what it asks is recorded in a step of its own. */
class Suspended extends Error {
  constructor(readonly asked: SuspendOptions) {
    super('The call waits for a person.');
  }
}

function stepOf({ call, place }: PlacedCall): StepName {
  return { kind: 'tool', place, subject: call.name };
}

function suspendStep({ call }: PlacedCall, at: string): StepName {
  return { kind: 'suspend', place: at, subject: call.name };
}

function toContext({ loop: { run }, call, place }: PlacedCall): ToolContext {
  return {
    principal: run.principal,
    sessionId: run.sessionId,
    runId: run.runId,
    callId: call.id,
    key: `${run.runId}:tool:${place}`,
    signal: run.signal,
  };
}

/** A call that only stopped because the run goes on elsewhere has no result yet. */
function isInterrupted(done: ToolResult, signal: RunContext['signal']): boolean {
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

function waiting(request: WaitingRequest): CallOutcome {
  return { kind: 'waiting', request };
}

function unreachable(): Promise<never> {
  throw new AppError('INTERNAL', 'A recorded step was executed again.');
}
