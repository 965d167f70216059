import { Injectable } from '@nestjs/common';
import { AGENT_RUN, AgentService } from '../../agent/index.js';
import { RunHistoryService } from '../../agent/history/index.js';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { type RunRecord, RunService, type RunStatus } from '../../run/index.js';
import { isTerminal } from '../../run/event/index.js';
import type { ListedRun, RunFilter } from '../../run/query/index.js';
import { RunWaitService } from '../interrupts/run-wait.service.js';
import type { A2aTask, TaskPage, TaskState } from './a2a.types.js';
import type { ListTasks } from './a2a-request.schema.js';
import { isRefusal, TaskBuilder, type TaskView, toTime } from './task.builder.js';

/** Time in which a cancelled run usually ends, in ms; the answer to a slower one has its present state. */
const CANCEL_MS = 10_000;
const PAGE = 50;
/** Runs that one request reads at most, for a page and for the number of all tasks. */
const MAX_READ = 1_000;
const READ_AT_ONCE = 100;

const STATE_OF: Readonly<Record<RunStatus, TaskState>> = {
  queued: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  waiting: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
};
const STATUS_OF: Readonly<Record<TaskState, RunStatus | undefined>> = {
  TASK_STATE_SUBMITTED: 'queued',
  TASK_STATE_WORKING: 'running',
  TASK_STATE_INPUT_REQUIRED: 'waiting',
  TASK_STATE_AUTH_REQUIRED: undefined,
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'cancelled',
  TASK_STATE_REJECTED: 'failed',
};

/** The runs of an agent as tasks. A run of another agent, and one that the caller may not see, is no task. */
@Injectable()
export class A2aTaskService {
  constructor(
    private readonly agents: AgentService,
    private readonly runs: RunService,
    private readonly history: RunHistoryService,
    private readonly waits: RunWaitService,
  ) {}

  /** @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED` */
  async find(principal: Principal, agent: string, id: string): Promise<RunRecord> {
    const run = await this.runs.get(principal, id);
    if (run.kind === AGENT_RUN && run.agent === agent && run.lineage === null) return run;
    throw new AppError('RUN_NOT_FOUND', `There is no task "${id}".`);
  }

  /** The present state of a task. */
  async builderOf(principal: Principal, run: RunRecord): Promise<TaskBuilder> {
    const { builder } = await this.read(principal, run);
    return builder;
  }

  /** As `builderOf`, with the number of the last event. */
  async read(principal: Principal, run: RunRecord): Promise<{ readonly builder: TaskBuilder; readonly n: number }> {
    const builder = new TaskBuilder(run);
    let n = 0;
    for await (const item of this.agents.recorded(run.id)) {
      builder.take(item);
      n = item.n ?? n;
    }
    if (builder.state !== 'TASK_STATE_INPUT_REQUIRED') return { builder, n };
    const waited = await this.waits.currentWait(principal, run.id, AbortSignal.timeout(CANCEL_MS));
    if (waited) builder.take({ ...waited, at: Date.parse(builder.toTask().status.timestamp) });
    return { builder, n };
  }

  /** @throws AppError as `find` */
  async get(principal: Principal, agent: string, id: string, view: TaskView): Promise<A2aTask> {
    const builder = await this.builderOf(principal, await this.find(principal, agent, id));
    return builder.toTask(view);
  }

  /** Cancels a task and waits for its end, for some seconds. @throws AppError as `find`, `RUN_NOT_CANCELLABLE` */
  async cancel(principal: Principal, agent: string, id: string): Promise<A2aTask> {
    await this.find(principal, agent, id);
    await this.runs.cancel(principal, id);
    const items = this.agents.follow(id, 0, AbortSignal.timeout(CANCEL_MS));
    for await (const { event } of items) if (isTerminal(event)) break;
    return this.get(principal, agent, id, {});
  }

  /** The tasks of an agent, newest first. @throws AppError `VALIDATION_FAILED` for a token that no page returned */
  async list(principal: Principal, agent: string, request: ListTasks): Promise<TaskPage> {
    const { pageSize = PAGE, pageToken, historyLength = 0, includeArtifacts: hasArtifacts = false } = request;
    const listing: Listing = { principal, agent, request };
    const { runs, next } = await this.matching(listing, pageSize, pageToken);
    const { runs: all } = await this.matching(listing, MAX_READ);
    const isWhole = historyLength > 0 || hasArtifacts;
    const tasks = await Promise.all(
      runs.map(async (run) =>
        isWhole ? this.get(principal, agent, run.id, { historyLength, hasArtifacts }) : toTask(run),
      ),
    );
    return { tasks, nextPageToken: next ?? '', pageSize, totalSize: all.length };
  }

  /** Runs that match, from a place on; at most `MAX_READ` are read. */
  private async matching(
    { principal, agent, request }: Listing,
    limit: number,
    after?: string,
  ): Promise<{ readonly runs: readonly ListedRun[]; readonly next: string | null }> {
    const filter = toFilter(agent, request);
    if (!filter) return { runs: [], next: null };
    const runs: ListedRun[] = [];
    let place: string | null = after ?? null;
    for (let read = 0; read < MAX_READ && runs.length < limit;) {
      const most = Math.min(READ_AT_ONCE, limit - runs.length);
      const page = await this.history.list(principal, {
        ...filter,
        limit: most,
        ...(place !== null && { after: place }),
      });
      runs.push(...page.runs.filter((run) => isListed(run, request)));
      read += page.runs.length;
      place = page.next;
      if (place === null) break;
    }
    return { runs, next: place };
  }
}

interface Listing {
  readonly principal: Principal;
  readonly agent: string;
  readonly request: ListTasks;
}

/** @returns `undefined` if no run can match */
function toFilter(agent: string, { contextId, status }: ListTasks): RunFilter | undefined {
  const found = status && STATUS_OF[status];
  if (status && !found) return undefined;
  return {
    agent,
    kind: AGENT_RUN,
    ...(found && { statuses: [found] }),
    ...(contextId !== undefined && { sessionId: contextId }),
  };
}

function isListed(run: ListedRun, { status, statusTimestampAfter: after }: ListTasks): boolean {
  if (run.parentRunId !== null || run.prunedAt !== null) return false;
  if (status && stateOf(run) !== status) return false;
  return after === undefined || changedAt(run) > Date.parse(after);
}

function toTask(run: ListedRun): A2aTask {
  return {
    id: run.id,
    ...(run.sessionId !== null && { contextId: run.sessionId }),
    status: { state: stateOf(run), timestamp: toTime(changedAt(run)) },
  };
}

function stateOf({ status, error }: ListedRun): TaskState {
  return status === 'failed' && error && isRefusal(error.code) ? 'TASK_STATE_REJECTED' : STATE_OF[status];
}

/** Of an open run, its start: its journal alone has the time of the last change. */
function changedAt({ finishedAt, createdAt }: ListedRun): number {
  return finishedAt ?? createdAt;
}
