import { AppError } from '../../errors/index.js';
import { newId, Semaphore } from '../../kernel/index.js';
import { unreachable, type RunContext, type StepName } from '../../run/context/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import type { RunUsage } from '../../run/event/index.js';
import type { ChildRunRequest } from '../../run/tree/index.js';
import type { CallSite, CheckedCall, ToolExecutor, ToolResult } from '../../tool/index.js';
import { failedResult } from '../../tool/result/index.js';
import type { CalledRun, CallLoop } from '../reasoning.types.js';
import type { CallMeter } from './call-meter.builder.js';
import { childResult, type ChildResult } from './child-result.factory.js';
import { withoutResult } from './decided-result.factory.js';
import { childRequest, type PlacedCall } from './waiting-request.factory.js';

/** Default for `maxDepth`. */
const DEFAULT_MAX_DEPTH = 3;
/**
 * Maximum concurrent child runs of one run. No other concurrency limit applies to them, and a reply may make hundreds
 * of calls.
 */
const AT_ONCE = 8;

const ANOTHER_ENDS = 'Not executed: another call of the reply ended the run.';

/** Journal record of a call that is a child run, written before that run starts. */
interface RecordedChild {
  readonly run_id: string;
  readonly is_handoff: boolean;
}

/** Outcome of a call that is a child run or a script. */
export type JoinedCall =
  | { readonly kind: 'ended'; readonly done: ChildResult & { readonly meter?: CallMeter } }
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[]; readonly outage?: AppError };

/** Outcome of a call. */
export type CallOutcome =
  | { readonly kind: 'result'; readonly result: ToolResult; readonly child?: CalledRun; readonly usage?: RunUsage }
  /** A person must decide before the call continues. */
  | Extract<JoinedCall, { kind: 'waiting' }>;

/**
 * Executes calls that are child runs. The run's id is recorded before the run starts: after a crash the parent joins it
 * instead of starting another one.
 */
export class ChildCallExecutor {
  /** Semaphores of child runs, keyed by the execution that calls them. */
  private readonly places = new WeakMap<RunContext, Semaphore>();

  constructor(private readonly tools: ToolExecutor) {}

  /** @param site the site of the call, as passed to its tool */
  async begin(placed: PlacedCall, checked: CheckedCall, site: CallSite): Promise<JoinedCall> {
    const { run, iteration, started, request: loopRequest } = placed.loop;
    const { id: call_id, name: tool, arguments: args } = placed.call;
    const { maxDepth = DEFAULT_MAX_DEPTH } = loopRequest.limits;
    if ((run.lineage?.depth ?? 0) >= maxDepth)
      return ended(failedResult(tool, 'AGENT_DEPTH_EXCEEDED', tooDeep(maxDepth)));
    const request = requestOf(placed, checked, site);
    return this.inPlace(placed.loop, async () => {
      run.signal.throwIfAborted();
      if (placed.loop.signal.aborted) return ended(failedResult(tool, 'TOOL_CANCELLED', ANOTHER_ENDS));
      const recorded = await run.step(childStep(placed), async (): Promise<RecordedChild> => {
        const run_id = newId();
        started.add(placed.index);
        run.emit({ type: 'tool.started', iteration, call_id, tool, arguments: args, child_run_id: run_id });
        return { run_id, is_handoff: request.isHandoff };
      });
      return this.joinRun(placed, recorded, async () => request);
    });
  }

  /** Joins a run whose id an earlier execution recorded; its tool matters only if the run was never started. */
  async join(placed: PlacedCall, site: CallSite): Promise<JoinedCall> {
    const { loop, call } = placed;
    const recorded = await loop.run.step<RecordedChild>(childStep(placed), unreachable);
    loop.started.add(placed.index);
    const request = async () => {
      const checked = await this.tools.check(call, loop.tools);
      if (checked.kind === 'run') return requestOf(placed, checked, site);
      throw new AppError('TOOL_FAILED', checked.result.success ? 'It cannot be asked any more.' : checked.result.error);
    };
    return this.inPlace(loop, () => this.joinRun(placed, recorded, request));
  }

  /** Waits for a slot, but not after an abort: started runs must receive the abort at once. */
  private async inPlace<T>({ run, signal }: CallLoop, action: () => Promise<T>): Promise<T> {
    const places = this.places.get(run) ?? new Semaphore(AT_ONCE);
    this.places.set(run, places);
    const hasPlace = await places.enter(signal).then(
      () => true,
      () => false,
    );
    try {
      return await action();
    } finally {
      if (hasPlace) places.leave();
    }
  }

  private async joinRun(
    placed: PlacedCall,
    { run_id, is_handoff }: RecordedChild,
    request: () => Promise<ChildRunRequest>,
  ): Promise<JoinedCall> {
    const { loop, call, place } = placed;
    try {
      const step = loop.run.nameOf({ kind: 'tool', place });
      const status = await loop.run.join({ id: run_id, step, request, signal: loop.signal });
      if (status.kind === 'waiting') {
        const { requests, outage } = status;
        return { kind: 'waiting', requests: [childRequest(placed, run_id, requests)], ...(outage && { outage }) };
      }
      return { kind: 'ended', done: childResult(call.name, status, is_handoff, loop.request.limits.maxResultBytes) };
    } catch (error) {
      if (loop.run.signal.aborted || !(error instanceof AppError)) throw error;
      if (loop.signal.aborted) return ended(withoutResult(call.name, error, true));
      return ended(failedResult(call.name, error.code, error.message));
    }
  }
}

/** The journal step of a call that is a child run. */
export function childStep({ call, place }: PlacedCall): StepName {
  return { kind: 'child', place, subject: call.name };
}

function requestOf({ loop, index }: PlacedCall, { tool, input }: CheckedCall, site: CallSite): ChildRunRequest {
  if (!tool.child) throw new AppError('TOOL_FAILED', `The tool "${tool.definition.name}" asks no agent any more.`);
  const { facts = [] } = site;
  return { ...tool.child, input, facts, ...(loop.replyPlan.isSeparate(index) && { isSeparate: true }) };
}

function ended(result: ChildResult['result']): JoinedCall {
  return { kind: 'ended', done: { result } };
}

function tooDeep(maxDepth: number): string {
  return `Not asked: agents may ask one another ${maxDepth} deep, and have. Answer without it.`;
}
