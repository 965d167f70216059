import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { fieldMistake, type Principal } from '../../kernel/index.js';
import { RunService, type RunStatus } from '../../run/index.js';
import { parseRunPlace, type RunItem, type RunPlace, START } from '../../run/event/index.js';
import { RunFollowService } from '../../run/follow/index.js';
import { RunAuditStore, type RunFilter, RunListStore, type RunPage } from '../../run/query/index.js';
import {
  type CallLatency,
  type LatencyPage,
  RunUsageStore,
  type UsageFilter,
  type UsageKind,
  type UsagePage,
  type UsageSum,
} from '../../run/usage/index.js';
import { isViewer } from '../../security/index.js';
import { AccessLogService } from '../../security/access-log/index.js';
import { type RunJournalPage, toRunJournal } from './run-history.mapper.js';

/** A page of a list. */
export interface PageRequest {
  /** Maximum number of entries; default 50. */
  readonly limit?: number;
  /** The `next` of the previous page. */
  readonly after?: string;
}

/** Sums of the calls that the principal may see. */
export interface UsageReport extends UsagePage {
  /** Of all pages. */
  readonly total: UsageSum;
}

/** Durations of the calls that the principal may see. */
export interface LatencyReport extends LatencyPage {
  /** Of all pages. */
  readonly total: CallLatency;
}

/** A position in the events of a run. */
export interface RunPosition {
  readonly runId: string;
  /** The id of the last received event, as in the header `Last-Event-ID`; by default from the first event. */
  readonly lastEventId?: string | undefined;
}

/** The events of a run from a position. */
export interface FollowedRun {
  /** The status of the run when it was opened. */
  readonly status: RunStatus;
  readonly isFromStart: boolean;
  readonly items: AsyncGenerator<RunItem, void>;
}

/** Reads the runs, journals and usage that a principal may see. Each read is in the access log. */
@Injectable()
export class RunHistoryService {
  constructor(
    private readonly runs: RunService,
    private readonly lists: RunListStore,
    private readonly audit: RunAuditStore,
    private readonly usages: RunUsageStore,
    private readonly follower: RunFollowService,
    private readonly access: AccessLogService,
  ) {}

  /** The runs, newest first. @throws AppError `VALIDATION_FAILED` for a cursor that no page returned */
  async list(principal: Principal, filter: RunFilter & PageRequest = {}): Promise<RunPage> {
    const { limit = 50, after, ...rest } = filter;
    const page = await this.lists.list(principal, rest, limit, after);
    this.access.record(principal, 'read', 'runs', '');
    return page;
  }

  /**
   * A page of a run's journal: its steps and events. A viewer's lacks the instructions of agents.
   * @param page `after`: the `next` of the previous page
   * @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED`
   */
  async journal(
    principal: Principal,
    runId: string,
    { after = 0, limit = 50 }: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<RunJournalPage> {
    const run = await this.runs.get(principal, runId);
    const [steps, events] = await Promise.all([
      this.audit.steps(runId, after, limit + 1),
      this.audit.events(runId, after, limit + 1),
    ]);
    this.access.record(principal, 'read', 'run.journal', runId);
    return toRunJournal(run, steps, events, { after, limit, hasInstructions: !isViewer(principal) });
  }

  /** Tokens and costs of model calls, summed by day, session, agent or model. */
  usage(
    principal: Principal,
    query: Omit<UsageFilter, 'principal'> & PageRequest & { readonly by?: Exclude<UsageKind, 'tenant'> } = {},
  ): Promise<UsageReport> {
    const { by = 'day', limit = 50, after, ...filter } = query;
    return this.sums({ ...filter, principal }, by, limit, after);
  }

  /** Durations of model calls and their times to the first text, by day, session, agent or model. */
  async latency(
    principal: Principal,
    query: Omit<UsageFilter, 'principal'> & PageRequest & { readonly by?: Exclude<UsageKind, 'tenant'> } = {},
  ): Promise<LatencyReport> {
    const { by = 'day', limit = 50, after, ...rest } = query;
    const filter = { ...rest, principal };
    const [total, page] = await Promise.all([
      this.usages.latency(filter),
      this.usages.latencyPage(filter, by, limit, after),
    ]);
    return { ...page, total };
  }

  /** As `usage`, of all tenants, summed by tenant; for operators. */
  usageOfTenants(query: Pick<UsageFilter, 'from' | 'to'> & PageRequest = {}): Promise<UsageReport> {
    const { limit = 50, after, ...filter } = query;
    return this.sums(filter, 'tenant', limit, after);
  }

  /**
   * The events of a run after a position, and those to come. Closing `items` does not cancel the run.
   * @param signal ends the items
   * @throws AppError `RUN_NOT_FOUND`, `VALIDATION_FAILED` for an unknown position
   */
  async follow(principal: Principal, position: RunPosition, signal: AbortSignal): Promise<FollowedRun> {
    const { runId, lastEventId } = position;
    const from = toPlace(lastEventId);
    const { status } = await this.runs.get(principal, runId);
    this.access.record(principal, 'read', 'run.events', runId);
    return { status, isFromStart: from === START, items: this.follower.open(runId).items(from, signal) };
  }

  private async sums(filter: UsageFilter, by: UsageKind, limit: number, after?: string): Promise<UsageReport> {
    const [total, page] = await Promise.all([this.usages.total(filter), this.usages.page(filter, by, limit, after)]);
    return { ...page, total };
  }
}

function toPlace(lastEventId: string | undefined): RunPlace {
  const place = lastEventId === undefined || lastEventId === '' ? START : parseRunPlace(lastEventId);
  if (place) return place;
  const message = `Last-Event-ID must be the id of an event of this run, like 12 or 12.1000003.250; got "${lastEventId?.slice(0, 40)}".`;
  const errors = [fieldMistake('Last-Event-ID', message, 'isEventId', lastEventId)];
  throw new AppError('VALIDATION_FAILED', message, { details: { errors } });
}
