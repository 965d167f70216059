import { Injectable, Optional } from '@nestjs/common';
import { AgentService } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { Database } from '../persistence/index.js';
import { RunService, type SubmittedWith } from '../run/index.js';
import { hasScope, PrincipalDirectory } from '../security/index.js';
import { WorkflowService } from '../workflow/index.js';
import type { Schedule } from './schedule.store.js';

const ENDED = ['RUN_NOT_CANCELLABLE', 'RUN_NOT_FOUND'];

/** Checks and starts the runs of schedules. */
@Injectable()
export class ScheduledRunService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentService,
    private readonly workflows: WorkflowService,
    private readonly runs: RunService,
    @Optional() private readonly principals?: PrincipalDirectory,
  ) {}

  /** @throws AppError of the checks of a start */
  async check(owner: Principal, work: Schedule['work']): Promise<void> {
    if (work.kind === 'agent') await this.agents.check(owner, requestOf(work));
    else await this.workflows.check(owner, work.subject, startOf(work));
  }

  /** Applies the overlap policy. @returns whether a run may start */
  async makeRoom({ overlap, lastRunId }: Schedule, owner: Principal): Promise<boolean> {
    if (overlap === 'allow' || lastRunId === null) return true;
    const isOpen = await this.isOpen(lastRunId);
    if (!isOpen || overlap === 'skip') return !isOpen;
    await this.runs.cancel(owner, lastRunId).catch((error: unknown) => {
      if (!(error instanceof AppError && ENDED.includes(error.code))) throw error;
    });
    return true;
  }

  private async isOpen(runId: string): Promise<boolean> {
    const sql = 'SELECT id FROM run WHERE id = ? AND finished_at IS NULL';
    return (await this.database.query(sql, [runId])).length > 0;
  }

  /** @returns the id of the run. @throws AppError of the start */
  async submit(owner: Principal, work: Schedule['work'], also: SubmittedWith = {}): Promise<string> {
    const { id } =
      work.kind === 'agent'
        ? await this.agents.submit(owner, requestOf(work), also)
        : await this.workflows.submit(owner, work.subject, startOf(work), also);
    return id;
  }

  /**
   * The owner with its present rights; `null` if it has lost the right to chat. An application's own roles are not known
   * here: a principal without the right at the creation keeps its schedule.
   */
  async ownerOf({ principal }: Schedule): Promise<Principal | null> {
    const owner = this.principals ? await this.principals.lookUp(principal) : principal;
    const hasLost = owner && hasScope(principal, 'chat') && !hasScope(owner, 'chat');
    return hasLost ? null : owner;
  }
}

function requestOf({ subject, query = '', sessionId, priority, deadlineMs }: Schedule['work']) {
  return { agent: subject, query, isStreaming: true, ...optional({ sessionId, priority, deadlineMs }) };
}

function startOf({ input, sessionId, priority, deadlineMs }: Schedule['work']) {
  return { ...(input && { input }), ...optional({ sessionId, priority, deadlineMs }) };
}

function optional(fields: {
  sessionId?: string | undefined;
  priority?: number | undefined;
  deadlineMs?: number | undefined;
}) {
  const { sessionId, priority, deadlineMs } = fields;
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(priority !== undefined && { priority }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  };
}
