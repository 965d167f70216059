import { Injectable } from '@nestjs/common';
import type { Principal } from '../common/index.js';
import {
  RunForkService,
  type ForkEdits,
  type ForkPlan,
  type RunMarks,
  type RunRecord,
  type StartRun,
} from '../run/index.js';
import { ToolStateForks, type ChangedState } from '../tool/index.js';

/** Forks runs as `RunForkService` does, with their own copy of what tools kept at that place. */
@Injectable()
export class ForkedRuns {
  constructor(
    private readonly forks: RunForkService,
    private readonly states: ToolStateForks,
  ) {}

  /** What a fork would take along. @throws AppError `VALIDATION_FAILED` naming the steps there are */
  plan(original: RunRecord, fromStep: string): Promise<ForkPlan> {
    return this.forks.plan(original, fromStep);
  }

  /** What a run has recorded and told. */
  marks(runId: string): Promise<RunMarks> {
    return this.forks.marks(runId);
  }

  /** A value that a run recorded (`RunContext.value`); `null` when it has not. */
  value(runId: string, place: string): Promise<unknown> {
    return this.forks.value(runId, place);
  }

  /** @throws AppError `COMMIT_REFUSED` when what was planned is no longer there, `SHUTTING_DOWN` */
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
