import { AppError, type JsonValue } from '../../common/index.js';
import type { ToolCall } from '../../llm/index.js';
import {
  unreachable,
  type RunContext,
  type RunUsage,
  type StepName,
  type ToolStarted,
  type WaitingRequest,
} from '../../run/index.js';
import {
  ToolExecutor,
  type CallSite,
  type ChangedState,
  type Invoked,
  type KeptState,
  type PlannedCall,
  type Reconciled,
  type SecurityPolicies,
  type SuspendOptions,
  type SuspensionAnswer,
  type ToolResult,
} from '../../tool/index.js';
import type { CalledRun, CallLoop, HandedAnswer } from '../reasoning.types.js';
import { toSite, type CallDecider } from './call-decider.executor.js';
import { standingOf, type CallStanding } from './call-standing.policy.js';
import { CallMeter } from './call-meter.builder.js';
import { childStep, ChildCallExecutor, type JoinedCall } from './child-call.executor.js';
import type { ChildResult } from './child-result.factory.js';
import { decidedResult } from './decided-result.factory.js';
import { noteStrangers, readsStrangers } from './stranger.policy.js';
import { screenProgress, screenResult } from './screened-result.factory.js';
import { recordQuestion, shownQuestion, suspendStep, type RecordedQuestion } from './recorded-question.mapper.js';
import { toldResult } from './told-result.mapper.js';
import {
  approvalRequest,
  invocationPlace,
  requestId,
  settlementRequest,
  type PlacedCall,
} from './waiting-request.factory.js';

export type CallOutcome =
  | { readonly kind: 'result'; readonly result: ToolResult; readonly child?: CalledRun; readonly usage?: RunUsage }
  /** A person must decide before it goes on. */
  | { readonly kind: 'waiting'; readonly request: WaitingRequest };

type Ready = Extract<CallStanding, { kind: 'ready' }>;
type Unknown = Extract<CallStanding, { kind: 'unknown' }>;
/** A result, what it was before it was cut, and the run that the call was, if it was one. */
type Done = ChildResult & { readonly kept?: KeptState; readonly meter?: CallMeter };
/** As the journal has it: a result that was cut is there whole, too. */
type RecordedResult = ToolResult & {
  readonly whole?: JsonValue;
  readonly child?: CalledRun;
  readonly state?: ChangedState;
  /** What the models took that its tool asked. */
  readonly usage?: RunUsage;
};

/** One call of a reply as steps of the run: planned, claimed if it must not happen twice, invoked, recorded. */
export class CallExecutor {
  private readonly children: ChildCallExecutor;

  constructor(
    private readonly tools: ToolExecutor,
    private readonly decider: CallDecider,
    private readonly policies: SecurityPolicies,
  ) {
    this.children = new ChildCallExecutor(tools);
  }

  /** @param at the call's place in its reply, counted from 1 */
  async execute(loop: CallLoop, call: ToolCall, at: number): Promise<CallOutcome> {
    const placed: PlacedCall = { loop, call, index: at - 1, place: `${loop.iteration}:${at}` };
    const { run } = loop;
    loop.isReadingStrangers ||= readsStrangers(placed);
    const tool = loop.tools.get(call.name);
    if (tool?.metadata.state) loop.stateful.add(tool);
    if (run.isRecorded(stepOf(placed))) return this.replay(placed);
    if (run.isRecorded(childStep(placed))) return this.joined(placed, await this.children.goOn(placed, toSite(placed)));
    const standing = await standingOf(placed);
    switch (standing.kind) {
      case 'asked':
        return asking(await run.step(suspendStep(placed, standing.at), unreachable));
      case 'decided': {
        const { maxResultBytes } = loop.request.limits;
        const decided = decidedResult(call.name, standing.about, standing.decision, maxResultBytes);
        return this.record(placed, { result: decided });
      }
      case 'unknown':
        return this.findOut(placed, standing);
      case 'ready':
        return this.begin(placed, standing);
    }
  }

  private async replay(placed: PlacedCall): Promise<CallOutcome> {
    const { loop, call } = placed;
    const recorded = await loop.run.step<RecordedResult>(stepOf(placed), unreachable);
    const tool = loop.tools.get(call.name);
    if (tool && recorded.state) await this.tools.replayed(tool, toSite(placed), recorded.state);
    return result(recorded);
  }

  /** Neither a cancel nor the loss of the tool makes it known what became of an earlier execution's claim. */
  private async findOut(placed: PlacedCall, { n, at, ...given }: Unknown): Promise<CallOutcome> {
    const reconciled = await this.reconcile(placed);
    switch (reconciled.kind) {
      case 'result':
        return this.record(placed, reconciled);
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
    return this.tools.reconcile(tool, toSite(placed), { maxResultBytes: loop.request.limits.maxResultBytes });
  }

  private async begin(placed: PlacedCall, { n, answer }: Ready): Promise<CallOutcome> {
    const { loop, call, place } = placed;
    const { run } = loop;
    run.signal.throwIfAborted();
    const id = requestId('approval', place);
    const approval = run.answer(id);
    if (approval && approval.kind !== 'approve') {
      const decided = decidedResult(call.name, 'approval', approval, loop.request.limits.maxResultBytes);
      return this.record(placed, { result: decided });
    }
    // What was asked stays asked, whatever a predicate says meanwhile.
    if (!approval && run.isRecorded({ kind: 'value', place: id })) return waiting(await approvalRequest(placed, ''));
    const planned = await this.decider.decide(placed, approval !== undefined);
    if (planned.kind === 'approval' && !approval) return waiting(await approvalRequest(placed, planned.reason));
    if (planned.kind !== 'rejected' && planned.tool.child)
      return this.joined(placed, await this.children.begin(placed, planned, toSite(placed)));
    const at = invocationPlace(place, n);
    const isClaimed = await this.announce(placed, planned, at);
    return isClaimed ? this.carryOut(placed, planned, at, answer) : waiting(await settlementRequest(placed, at));
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
      const isCalled = planned.kind !== 'rejected';
      let done: Done | undefined;
      const action = async () => this.finish(placed, (done = await this.invoke(placed, planned, answer)), isCalled);
      return result(await run.step(stepOf(placed), action, { companion: () => done?.kept?.companion }));
    } catch (error) {
      if (error instanceof Undecided) return waiting(await settlementRequest(placed, at, error.message));
      if (!(error instanceof Suspended)) throw error;
      return asking(await run.step(suspendStep(placed, at), async () => recordQuestion(placed, at, error.asked)));
    }
  }

  private async invoke(placed: PlacedCall, planned: PlannedCall, answer?: SuspensionAnswer): Promise<Done> {
    if (planned.kind === 'rejected') return planned;
    const { limits } = placed.loop.request;
    const meter = new CallMeter(placed);
    const site = { ...this.screened(toSite(placed)), meter, ...(answer && { answer }) };
    const invoked: Invoked = await this.tools.invoke(planned, site, { maxResultBytes: limits.maxResultBytes });
    if (invoked.kind === 'suspended') throw new Suspended(invoked.asked);
    if (invoked.kind === 'unknown') throw new Undecided(invoked.reason);
    return { ...invoked, meter };
  }

  private joined(placed: PlacedCall, joined: JoinedCall): Promise<CallOutcome> | CallOutcome {
    return joined.kind === 'waiting' ? waiting(joined.request) : this.record(placed, joined.done);
  }

  /** What a call tells on its way is held against the same rules as its result. */
  private screened(site: CallSite): CallSite {
    const filter = this.policies.filter('results', site.rules);
    return filter ? { ...site, report: (progress) => site.report?.(screenProgress(filter, progress)) } : site;
  }

  /** A result that needs no call. */
  private async record(placed: PlacedCall, given: Done): Promise<CallOutcome> {
    const companion = () => given.kept?.companion;
    return result(await placed.loop.run.step(stepOf(placed), async () => this.finish(placed, given), { companion }));
  }

  private async finish(
    placed: PlacedCall,
    { child, kept, meter, ...given }: Done,
    isCalled = false,
  ): Promise<RecordedResult> {
    const { loop, call } = placed;
    if (isInterrupted(given.result, loop.run.signal)) throw loop.run.signal.reason;
    const { result: screened, whole } = screenResult(
      this.policies.filter('results', loop.request.rules),
      placed,
      given,
    );
    const done = loop.failed.has(callKey(call)) ? withReminder(screened) : screened;
    await noteStrangers(placed, done, { isCalled, child });
    const state = kept?.changed;
    tell(placed, done, { child, state });
    const usage = meter?.tell();
    return {
      ...done,
      ...(whole !== undefined && { whole }),
      ...(child && { child }),
      ...(state && { state }),
      ...usage,
    };
  }
}

/** Leaves the step of a call without a result: what it asks is recorded in a step of its own. */
class Suspended extends Error {
  constructor(readonly asked: SuspendOptions) {
    super('The call waits for a person.');
  }
}

/** Leaves the step of a call that may have happened: a person says what became of it. */
class Undecided extends Error {}

function stepOf({ call, place }: PlacedCall): StepName {
  return { kind: 'tool', place, subject: call.name };
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

function result({ whole: _whole, state: _state, child, usage, ...given }: RecordedResult): CallOutcome {
  return { kind: 'result', result: given, ...(child && { child }), ...(usage && { usage }) };
}

function tell(
  { loop, call }: PlacedCall,
  done: ToolResult,
  { child, state }: Pick<RecordedResult, 'child' | 'state'>,
): void {
  const about = { iteration: loop.iteration, call_id: call.id };
  loop.run.emit({
    type: 'tool.completed',
    ...about,
    ...toldResult(done),
    ...(child && { child_run_id: child.run_id }),
  });
  if (child?.answer) tellAnswer(loop, child.run_id, child.answer);
  if (state) loop.run.emit({ type: 'state.changed', ...about, tool: call.name, context_id: state.context_id });
}

/** The answer of the agent that was handed the conversation, as if it came next. */
function tellAnswer({ run, iteration }: CallLoop, run_id: string, { agent, text, finish_reason }: HandedAnswer): void {
  const answered_by = { agent, run_id };
  run.emit({ type: 'message.completed', iteration: iteration + 1, text, finish_reason, tool_calls: [], answered_by });
}

function asking(question: RecordedQuestion): CallOutcome {
  return waiting(shownQuestion(question));
}

function waiting(request: WaitingRequest): CallOutcome {
  return { kind: 'waiting', request };
}
