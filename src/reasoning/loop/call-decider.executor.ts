import { untilAborted } from '../../kernel/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import type { ToolCall } from '../../llm/chat/index.js';
import { unreachable, type StepName } from '../../run/context/index.js';
import { isTainted } from '../../run/facts/index.js';
import type { CallPlan } from '../../run/replay/index.js';
import type { CallSite, ToolExecutor, ToolResult } from '../../tool/index.js';
import type { CallNote } from '../../tool/call/index.js';
import type { ApprovalNeed, PlannedCall, PolicyNote } from '../../tool/decision/index.js';
import { failedResult } from '../../tool/result/index.js';
import type { CallRules } from '../../tool-policy/index.js';
import { isReader } from './compact-context.executor.js';
import { isAtLimit } from './continue-or-finish.processor.js';
import { invocationPlace, type PlacedCall } from './waiting-request.factory.js';

/** A decision as recorded in the journal. */
type RecordedDecision =
  | { readonly kind: 'run' }
  | ({ readonly kind: 'approval' } & ApprovalNeed)
  | { readonly kind: 'rejected'; readonly result: ToolResult };

/**
 * Decides whether a call runs, needs approval or is rejected. If a policy took part, the decision is a step of its own:
 * a replay may find other lists and limits, but repeats the recorded decision, events and counts.
 */
export class CallDecider {
  constructor(
    private readonly tools: ToolExecutor,
    private readonly rules: CallRules | null,
  ) {}

  /** @param isApproved whether a person approved the call, perhaps with edited arguments, which are checked again */
  async decide(placed: PlacedCall, isApproved: boolean): Promise<PlannedCall> {
    const { replyPlan, tools } = placed.loop;
    if (isWithoutPolicies(placed)) return this.tools.check(placed.call, tools);
    const chosen = await replyPlan.chosenInstead(placed.index);
    if (chosen >= 0) return { kind: 'rejected', result: notChosen(placed.call, chosen) };
    const planned = await this.decideAlone(placed, isApproved);
    if (planned.kind !== 'rejected') replyPlan.choose(placed.index);
    return planned;
  }

  /** Passes the present decision about a recorded call to the observer of a replay; counts and records nothing. */
  async observe(placed: PlacedCall): Promise<void> {
    const { loop, call, place } = placed;
    const { observer } = loop.run;
    if (!observer) return;
    const planned = await (isWithoutPolicies(placed) ? this.tools.check(call, loop.tools) : this.plan(placed));
    const step = loop.run.nameOf({ kind: 'tool', place });
    observer.called({ step, tool: call.name, arguments: call.arguments, ...toOutline(planned) });
  }

  private async decideAlone(placed: PlacedCall, isApproved: boolean): Promise<PlannedCall> {
    const { run } = placed.loop;
    const step = stepOf(placed, isApproved);
    if (run.isRecorded(step)) return this.again(placed, await run.step<RecordedDecision>(step, unreachable));
    const planned = await untilAborted(this.planCovered(placed, isApproved), run.signal);
    // The approval request has already published the need for approval.
    const notes = (planned.notes ?? []).filter(({ decision }) => !isApproved || decision === 'denied');
    const isCounted = isContinuing(planned, isApproved) && this.rules?.rates.concerns(planned) === true;
    if (notes.length === 0 && !isCounted) return planned;
    let decided = planned;
    const recorded = await run.step(step, async (): Promise<RecordedDecision> => {
      for (const note of notes) publishNote(placed, note);
      if (isCounted) decided = await this.count(placed, planned);
      return toRecord(decided);
    });
    return recorded.kind === 'rejected' ? recorded : decided;
  }

  /** The plan of a call; one that waits by the rule of three facts alone runs if an earlier approval covers it. */
  private async planCovered(placed: PlacedCall, isApproved: boolean): Promise<PlannedCall> {
    const planned = await this.plan(placed);
    if (isApproved || !this.rules?.approvals || planned.kind !== 'approval' || !planned.isCoverable) return planned;
    const site = toSite(placed);
    const found = await this.rules.approvals.find(planned, site, async (decider) => {
      const alone = { ...site, principal: decider, isTainted: false, facts: [] };
      return (await this.tools.plan(placed.call, placed.loop.tools, alone)).kind !== 'rejected';
    });
    if (!found) return planned;
    const { tool, input, notes = [] } = planned;
    const by = { decision: 'allowed', scope: found.scope, approval_id: found.id } as const;
    const allowed = notes.map((note) => (note.decision === 'approval' ? { policy: note.policy, ...by } : note));
    return { kind: 'run', tool, input, notes: allowed };
  }

  private async plan(placed: PlacedCall): Promise<PlannedCall> {
    const { loop, call } = placed;
    const { maxIterations } = loop.request.limits;
    if (!isAtLimit(loop)) {
      const refusal = loop.deferred?.refusal(call.name);
      if (refusal) return { kind: 'rejected', result: failedResult(call.name, 'TOOL_NOT_FOUND', refusal) };
      const tools = loop.deniedTools.has(call.name) ? loop.deniedTools : loop.tools;
      return this.tools.plan(call, tools, toSite(placed));
    }
    const error = `Not executed: the run reached its limit of ${maxIterations} iterations.`;
    return { kind: 'rejected', result: failedResult(call.name, 'TOOL_CANCELLED', error) };
  }

  private async count(placed: PlacedCall, planned: Exclude<PlannedCall, { kind: 'rejected' }>): Promise<PlannedCall> {
    const { note, rejected } = await this.rules!.rates.admit(planned, toSite(placed));
    publishNote(placed, note);
    return rejected ? { kind: 'rejected', result: rejected } : planned;
  }

  /** Applies the recorded decision to the current tool and arguments. */
  private async again({ loop, call }: PlacedCall, recorded: RecordedDecision): Promise<PlannedCall> {
    if (recorded.kind === 'rejected') return recorded;
    const checked = await this.tools.check(call, loop.deniedTools.has(call.name) ? loop.deniedTools : loop.tools);
    if (checked.kind === 'rejected' || recorded.kind === 'run') return checked;
    return { ...checked, ...recorded };
  }
}

/**
 * A search or a read of a result calls no tool: policies, approvals, switches and limits apply to the found ones. For a
 * script, they apply to its calls. Nor does
 * a call that the client of the run executes.
 */
function isWithoutPolicies({ loop, call: { name } }: PlacedCall): boolean {
  const { deferred, tools } = loop;
  const isScript = tools.get(name)?.scripted !== undefined;
  const isOwn = deferred?.isFinder(name) || isReader(loop, name) || tools.get(name)?.metadata.isClient || isScript;
  return isOwn && !isAtLimit(loop);
}

function toOutline(planned: PlannedCall): Omit<CallPlan, 'step' | 'tool' | 'arguments'> {
  const { kind: decision } = planned;
  switch (planned.kind) {
    case 'run':
      return { decision, input: planned.input };
    case 'approval':
      return {
        decision,
        input: planned.input,
        reason: planned.reason,
        ...(planned.isCoverable && { isCoverable: true }),
      };
    case 'rejected':
      return { decision, ...(!planned.result.success && { code: planned.result.code, reason: planned.result.error }) };
  }
}

/** The site of a call, for the tool executor. */
export function toSite({ loop, call, place }: PlacedCall): CallSite {
  const { run, iteration } = loop;
  return {
    principal: run.principal,
    agent: loop.request.agent,
    rules: loop.request.rules,
    sessionId: run.sessionId,
    runId: run.runId,
    callId: call.id,
    key: `${run.runId}:${run.nameOf({ kind: 'tool', place })}`,
    signal: loop.signal,
    isTainted: isTainted(loop.facts),
    facts: loop.facts,
    files: run.files,
    note: noteOf({ loop, call, place }),
    ...(run.endsAt !== undefined && { endsAt: run.endsAt }),
    report: (progress) =>
      run.emit({ type: 'tool.progress', iteration, call_id: call.id, tool: call.name, ...progress }),
  };
}

function noteOf({ loop: { run }, call, place }: Pick<PlacedCall, 'loop' | 'call' | 'place'>): CallNote {
  const step: StepName = { kind: 'note', place, subject: call.name };
  return {
    read: async () => (run.isRecorded(step) ? run.step<JsonValue>(step, unreachable) : undefined),
    write: async (value) => void (await run.step(step, async () => value)),
  };
}

/** @param chosen the index of the hand-off that is executed */
function notChosen({ name }: ToolCall, chosen: number): ToolResult {
  const error = `Not executed, because one reply can hand the conversation over only once: call ${chosen + 1} of the reply does so.`;
  return failedResult(name, 'TOOL_CANCELLED', error);
}

function stepOf({ call, place }: PlacedCall, isApproved: boolean): StepName {
  return { kind: 'policy', place: invocationPlace(place, isApproved ? 2 : 1), subject: call.name };
}

function isContinuing(
  planned: PlannedCall,
  isApproved: boolean,
): planned is Exclude<PlannedCall, { readonly kind: 'rejected' }> {
  return planned.kind === 'run' || (planned.kind === 'approval' && isApproved);
}

function toRecord(planned: PlannedCall): RecordedDecision {
  switch (planned.kind) {
    case 'run':
      return { kind: 'run' };
    case 'approval':
      return {
        kind: 'approval',
        reason: planned.reason,
        ...(planned.by && { by: planned.by }),
        ...(planned.because && { because: planned.because }),
        ...(planned.isCoverable && { isCoverable: true }),
      };
    case 'rejected':
      return { kind: 'rejected', result: planned.result };
  }
}

function publishNote({ loop, call }: PlacedCall, note: PolicyNote): void {
  const { run, iteration } = loop;
  const about = { on: 'call', iteration, call_id: call.id, tool: call.name } as const;
  run.emit({ type: 'policy.decided', ...about, ...note });
}
