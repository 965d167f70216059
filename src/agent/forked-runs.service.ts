import { Injectable } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import {
  RunForkService,
  type ForkEdits,
  type ForkPlan,
  type RunMarks,
  type RunRecord,
  type StartRun,
} from '../run/index.js';
import { ToolStateForks } from '../tool-state/index.js';
import type { ChangedState } from '../tool/index.js';

/** Forks runs with `RunForkService`, and copies the tool state at the forked step. */
@Injectable()
export class ForkedRuns {
  constructor(
    private readonly forks: RunForkService,
    private readonly states: ToolStateForks,
  ) {}

  /** Plans a fork: the steps and events to copy. @throws AppError `VALIDATION_FAILED` naming the run's steps */
  plan(original: RunRecord, fromStep: string): Promise<ForkPlan> {
    return this.forks.plan(original, fromStep);
  }

  /** The recorded steps and events of a run. */
  marks(runId: string): Promise<RunMarks> {
    return this.forks.marks(runId);
  }

  /** A value that a run recorded (`RunContext.value`); `null` if it was not recorded. */
  value(runId: string, place: string): Promise<unknown> {
    return this.forks.value(runId, place);
  }

  /** @throws AppError `COMMIT_REFUSED` when the planned data no longer exists, `SHUTTING_DOWN` */
  async start(principal: Principal, plan: ForkPlan, start: StartRun, edits: ForkEdits): Promise<void> {
    const { original } = plan;
    const run = { runId: original.id, principal, sessionId: original.sessionId };
    const recorded = (await this.forks.calls(plan)).flatMap(stateIn);
    const earlier = async (tool: string) => (await this.forks.earlierCalls(original, tool)).flatMap(stateIn);
    const past = { run, createdAt: original.createdAt, recorded, earlier };
    const copy = await this.states.copy(past, { runId: start.id, principal, sessionId: start.sessionId });
    try {
      await this.forks.start(plan, { ...start, statements: [...(start.statements ?? []), ...copy.statements] }, edits);
    } catch (error) {
      copy.undone();
      throw error;
    }
    await copy.ended();
  }
}

function stateIn(result: unknown): ChangedState[] {
  const { state } = result as { state?: ChangedState };
  return state ? [state] : [];
}
