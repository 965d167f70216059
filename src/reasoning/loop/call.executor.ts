import { HeapReservation } from '../../kernel/index.js';
import type { ToolCall } from '../../llm/chat/index.js';
import { unreachable, type StepName } from '../../run/context/index.js';
import type { Decision, WaitingKind, WaitingRequest } from '../../run/decision/index.js';
import type { ToolStarted } from '../../run/event/index.js';
import type { RunFile } from '../../run/files/index.js';
import { type Invoked, type Reconciled, type SuspensionAnswer, ToolExecutor } from '../../tool/index.js';
import type { InvokeOptions } from '../../tool/call/index.js';
import type { PlannedCall } from '../../tool/decision/index.js';
import type { StoredState } from '../../tool/stateful/index.js';
import type { SecurityPolicies } from '../../tool-policy/index.js';
import type { CallLoop } from '../reasoning.types.js';
import { toSite, type CallDecider } from './call-decider.executor.js';
import { callKey, type CallStatus, statusOf } from './call-status.policy.js';
import { type RecordedQuestion, recordQuestion, shownQuestion, suspendStep } from './recorded-question.mapper.js';
import { CallMeter } from './call-meter.builder.js';
import { childStep, ChildCallExecutor, type CallOutcome, type JoinedCall } from './child-call.executor.js';
import type { ChildResult } from './child-result.factory.js';
import { decidedResult, isInterrupted, withReminder } from './decided-result.factory.js';
import { addReplayedFacts, readRecordedFacts, recordFacts } from './data-facts.executor.js';
import { ScriptCallExecutor } from '../script/script-call.executor.js';
import { screenResult, withScreenedProgress } from './screened-result.factory.js';
import { publishResult, type RecordedResult, withFileData, withFileReferences } from './published-result.mapper.js';
import {
  approvalRequest,
  invocationPlace,
  requestId,
  settlementRequest,
  Suspended,
  Undecided,
  type PlacedCall,
} from './waiting-request.factory.js';

type RunnableCall = Exclude<PlannedCall, { kind: 'rejected' }>;
type StatusOf<K> = Extract<CallStatus, { kind: K }>;
/** A result, its value before truncation, and the child run of the call, if any. */
type Done = ChildResult & { readonly storedState?: StoredState; readonly meter?: CallMeter };
/** One invocation of a call: its place in the run, the answer to the tool's last question and its queue slot. */
interface Invocation {
  readonly at: string;
  readonly planned: PlannedCall;
  readonly answer?: SuspensionAnswer;
  readonly turn?: InvokeOptions['place'];
}

/** One call of a reply as steps of the run: planned, claimed if it must not happen twice, invoked, recorded. */
export class CallExecutor {
  private readonly children: ChildCallExecutor;
  private readonly scripts = new ScriptCallExecutor((placed) => this.executeAt(placed));

  constructor(
    private readonly tools: ToolExecutor,
    private readonly decider: CallDecider,
    private readonly policies: SecurityPolicies,
  ) {
    this.children = new ChildCallExecutor(tools);
  }

  /**
   * @param at the call's position in its reply, counted from 1
   * @param mayWaitMs maximum time in the tool's queue, in ms; by default the tool's own limit
   */
  execute(loop: CallLoop, call: ToolCall, at: number, mayWaitMs?: number): Promise<CallOutcome> {
    return this.executeAt({ loop, call, index: at - 1, place: `${loop.iteration}:${at}`, mayWaitMs });
  }

  private async executeAt(placed: PlacedCall): Promise<CallOutcome> {
    const { loop, call } = placed;
    const { run } = loop;
    await readRecordedFacts(placed);
    const tool = loop.tools.get(call.name);
    if (tool?.metadata.state) loop.stateful.add(tool);
    if (run.isRecorded(stepOf(placed))) return this.decider.observe(placed).then(() => this.replay(placed));
    if (run.isRecorded(childStep(placed))) return this.joined(placed, await this.children.join(placed, toSite(placed)));
    const status = await statusOf(placed);
    switch (status.kind) {
      case 'asked':
        return asking(await run.step(suspendStep(placed, status.at), unreachable));
      case 'decided':
        return this.recordDecision(placed, status.about, status.decision);
      case 'unknown':
        return this.findOut(placed, status);
      case 'ready':
        return this.begin(placed, status);
    }
  }

  private async replay(placed: PlacedCall): Promise<CallOutcome> {
    const { loop, call } = placed;
    const recorded = await loop.run.step<RecordedResult>(stepOf(placed), unreachable);
    addReplayedFacts(placed, recorded);
    const tool = loop.tools.get(call.name);
    if (tool && recorded.state && !loop.run.observer) await this.tools.replayed(tool, toSite(placed), recorded.state);
    return result(await withFileData(recorded, loop.run.files));
  }

  /** Reconciles a claim of an earlier execution. After an abort, or without the tool, its outcome stays unknown. */
  private async findOut(placed: PlacedCall, { n, at, ...given }: StatusOf<'unknown'>): Promise<CallOutcome> {
    const reconciled = await this.reconcile(placed);
    switch (reconciled.kind) {
      case 'result':
        return this.record(placed, () => reconciled);
      case 'not_happened':
        return this.begin(placed, { ...given, kind: 'ready', n: n + 1 });
      case 'unknown':
        return waiting(await settlementRequest(placed, at));
    }
  }

  private async reconcile(placed: PlacedCall): Promise<Reconciled & { readonly meter?: CallMeter }> {
    const { loop, call } = placed;
    const tool = loop.tools.get(call.name);
    if (!tool || loop.run.signal.aborted) return { kind: 'unknown' };
    const meter = new CallMeter(placed);
    const site = { ...toSite(placed), learn: meter.learn };
    const { maxResultBytes } = loop.request.limits;
    return { ...(await this.tools.reconcile(tool, site, { maxResultBytes, files: loop.run.files })), meter };
  }

  private async begin(placed: PlacedCall, ready: StatusOf<'ready'>): Promise<CallOutcome> {
    const { run } = placed.loop;
    run.signal.throwIfAborted();
    const id = requestId('approval', placed.place);
    const approval = run.answer(id);
    if (approval && approval.kind !== 'approve') return this.recordDecision(placed, 'approval', approval);
    // A recorded approval request stays in effect, even if the tool's predicate no longer requires it.
    if (!approval && run.isRecorded({ kind: 'value', place: id }))
      return waiting(await approvalRequest(placed, { reason: '' }));
    const planned = await this.decider.decide(placed, approval !== undefined);
    if (planned.kind === 'approval' && !approval) return waiting(await approvalRequest(placed, planned));
    return planned.kind === 'rejected' ? this.start(placed, planned, ready) : this.beginChecked(placed, planned, ready);
  }

  private async beginChecked(
    placed: PlacedCall,
    planned: RunnableCall,
    ready: StatusOf<'ready'>,
  ): Promise<CallOutcome> {
    const { tool } = planned;
    if (tool.child) return this.joined(placed, await this.children.begin(placed, planned, toSite(placed)));
    if (tool.scripted) return this.joined(placed, await this.scripts.run(placed, planned));
    return this.start(placed, planned, ready);
  }

  private async start(
    placed: PlacedCall,
    planned: PlannedCall,
    { n, answer }: StatusOf<'ready'>,
  ): Promise<CallOutcome> {
    const admitted = await this.admit(placed, planned);
    try {
      const at = invocationPlace(placed.place, n);
      const isClaimed = await this.announce(placed, admitted.planned, at);
      if (!isClaimed) return waiting(await settlementRequest(placed, at));
      return await this.carryOut(placed, { ...admitted, at, ...(answer && { answer }) });
    } finally {
      admitted.turn?.close();
    }
  }

  /** Waits in the tool's queue before the call is announced and claimed: a call that did not start leaves no record. */
  private async admit(placed: PlacedCall, planned: PlannedCall): Promise<Pick<Invocation, 'planned' | 'turn'>> {
    if (planned.kind === 'rejected') return { planned };
    const admission = await this.tools.admit(planned, toSite(placed), placed.mayWaitMs);
    if ('place' in admission) return { planned, turn: admission.place };
    placed.loop.run.signal.throwIfAborted();
    return { planned: { kind: 'rejected', ...admission } };
  }

  /** @returns whether the call may be made; false if it was claimed before, so that it may have happened */
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

  private async carryOut(placed: PlacedCall, invocation: Invocation): Promise<CallOutcome> {
    const { run } = placed.loop;
    const { at, planned } = invocation;
    try {
      const invoke = () => this.invoke(placed, invocation);
      return await this.record(placed, invoke, planned.kind !== 'rejected');
    } catch (error) {
      if (error instanceof Undecided) return waiting(await settlementRequest(placed, at, error.message));
      if (!(error instanceof Suspended)) throw error;
      return asking(await run.step(suspendStep(placed, at), async () => recordQuestion(placed, at, error.options)));
    }
  }

  private async invoke(placed: PlacedCall, { planned, answer, turn }: Invocation): Promise<Done> {
    if (planned.kind === 'rejected') return planned;
    const { limits, rules } = placed.loop.request;
    placed.loop.started.add(placed.index);
    const meter = new CallMeter(placed);
    const filter = this.policies.filter('results', rules);
    const site = {
      ...withScreenedProgress(filter, toSite(placed)),
      meter,
      learn: meter.learn,
      ...(answer && { answer }),
    };
    const invoked: Invoked = await this.tools.invoke(planned, site, {
      maxResultBytes: limits.maxResultBytes,
      files: placed.loop.run.files,
      ...(turn && { place: turn }),
    });
    if (invoked.kind === 'suspended') throw new Suspended(invoked.suspension);
    if (invoked.kind === 'unknown') throw new Undecided(invoked.reason);
    return { ...invoked, meter };
  }

  private joined(placed: PlacedCall, joined: JoinedCall): Promise<CallOutcome> | CallOutcome {
    return joined.kind === 'waiting' ? joined : this.record(placed, () => joined.done);
  }

  private recordDecision(placed: PlacedCall, about: WaitingKind, decision: Decision): Promise<CallOutcome> {
    const { maxResultBytes } = placed.loop.request.limits;
    const decided = { result: decidedResult(placed.call.name, about, decision, maxResultBytes) };
    return this.record(placed, () => decided);
  }

  /** Records a result with its files, which no other call does meanwhile. */
  private async record(placed: PlacedCall, make: () => Promise<Done> | Done, isCalled = false): Promise<CallOutcome> {
    const { run } = placed.loop;
    const { recording } = run.files;
    let done: Done | undefined;
    let files: readonly RunFile[] = [];
    let isRecording = false;
    const action = async () => {
      done = await make();
      if (done.files) await recording.enter();
      isRecording = done.files !== undefined;
      const finished = await this.finish(placed, done, isCalled);
      files = finished.files;
      return finished.recorded;
    };
    try {
      const options = { companion: () => done?.storedState?.companion, files: () => files };
      const recorded = await HeapReservation.during(() => run.step(stepOf(placed), action, options));
      return result(await withFileData(recorded, run.files, files));
    } finally {
      if (isRecording) recording.leave();
    }
  }

  private async finish(placed: PlacedCall, { child, storedState, meter, ...given }: Done, isCalled: boolean) {
    const { loop, call } = placed;
    if (isInterrupted(given.result, loop.run.signal)) throw loop.run.signal.reason;
    const filter = this.policies.filter('results', loop.request.rules);
    const { result: screened, whole, files = [] } = screenResult(filter, placed, given);
    const done = loop.failed.has(callKey(call)) ? withReminder(screened) : screened;
    await recordFacts(placed, done, { isCalled, child, learned: meter?.learned });
    const state = storedState?.changed;
    publishResult(placed, done, { child, state, files });
    const recorded: RecordedResult = {
      ...withFileReferences(done, files),
      ...(whole !== undefined && { whole }),
      ...(child && { child }),
      ...(state && { state }),
      ...meter?.spent(),
    };
    return { recorded, files };
  }
}

function stepOf({ call, place }: PlacedCall): StepName {
  return { kind: 'tool', place, subject: call.name };
}

function result({ whole: _whole, state: _state, child, usage, ...given }: RecordedResult): CallOutcome {
  return { kind: 'result', result: given, ...(child && { child }), ...(usage && { usage }) };
}

function asking(question: RecordedQuestion): CallOutcome {
  return waiting(shownQuestion(question));
}

function waiting(request: WaitingRequest): CallOutcome {
  return { kind: 'waiting', requests: [request] };
}
