import { Injectable } from '@nestjs/common';
import type { Principal } from '../../kernel/index.js';
import { countDecisions, type ListedWait, type WaitingRequest, WaitingRunStore } from '../../run/decision/index.js';
import {
  type FeedPosition,
  type RunChange,
  RunChangeService,
  type RunCountFilter,
  type RunCounts,
  RunCountStore,
  type RunFilter,
  RunListStore,
  type RunPage,
  type RunSearchPage,
} from '../../run/query/index.js';
import { hasScope } from '../../security/index.js';
import { AccessLogService } from '../../security/access-log/index.js';
import { ruleRefusal } from '../decision/decision-permits.service.js';
import type { PageRequest } from './run-history.service.js';

/** A run that waits for people. */
export interface ShownWait extends Omit<ListedWait, 'requests'> {
  readonly requests: readonly {
    readonly request: WaitingRequest;
    /** Whether the scopes of the principal and the approval rule permit a decision; policies are checked with it. */
    readonly mayDecide: boolean;
  }[];
}

/** Lists, searches and counts the runs that a principal may see. Each read is in the access log. */
@Injectable()
export class RunSearchService {
  constructor(
    private readonly lists: RunListStore,
    private readonly counters: RunCountStore,
    private readonly waiting: WaitingRunStore,
    private readonly feed: RunChangeService,
    private readonly access: AccessLogService,
  ) {}

  /** The runs, newest first. @throws AppError `VALIDATION_FAILED` for a cursor that no page returned */
  async list(principal: Principal, filter: RunFilter & PageRequest = {}): Promise<RunPage> {
    const { limit = 50, after, ...rest } = filter;
    return this.listed(principal, await this.lists.list(principal, rest, limit, after));
  }

  /**
   * The runs whose question contains a text in its first 200 characters, newest first. One call searches up to 10,000 runs that
   * match the filter; the next page continues. @throws AppError as `list`
   */
  async search(
    principal: Principal,
    filter: RunFilter & PageRequest & { readonly text: string },
  ): Promise<RunSearchPage> {
    const { limit = 50, after, ...rest } = filter;
    return this.listed(principal, await this.lists.search(principal, rest, limit, after));
  }

  /**
   * The runs that wait for people, in the order of their starts, with the requests that the principal sees: all but those that
   * are decided in a child run.
   */
  async waits(
    principal: Principal,
    filter: { readonly agent?: string | undefined; readonly after?: string | undefined },
    limit: number,
  ): Promise<readonly ShownWait[]> {
    const waits = await this.waiting.list(principal, filter, limit);
    this.access.record(principal, 'read', 'runs', '');
    const mayWrite = hasScope(principal, 'runs:write');
    return waits.map(({ requests, ...wait }) => ({
      ...wait,
      requests: requests
        .filter(({ kind }) => kind !== 'child')
        .map((request) => ({ request, mayDecide: mayWrite && !ruleRefusal(principal, wait.owner, request) })),
    }));
  }

  /** The number of runs in each status, and of failed runs by error code. */
  async counts(principal: Principal, filter: RunCountFilter): Promise<RunCounts> {
    const counts = await this.counters.count(principal, filter);
    this.access.record(principal, 'read', 'runs', '');
    return counts;
  }

  /**
   * The runs whose status changes, each as it is then, at least once. The first entry has the position only.
   * @param signal ends the feed
   * @throws AppError `VALIDATION_FAILED` for an unknown position
   */
  changes(principal: Principal, position: FeedPosition, signal: AbortSignal): AsyncGenerator<RunChange, void> {
    const changes = this.feed.follow(principal, position, signal);
    this.access.record(principal, 'read', 'runs', '');
    return changes;
  }

  /** Also counts the decisions of runs that waited before their number was stored. */
  private async listed<P extends RunPage>(principal: Principal, page: P): Promise<P> {
    this.access.record(principal, 'read', 'runs', '');
    if (page.runs.every(({ pending }) => pending !== null)) return page;
    const runs = page.runs.map(async (run) => {
      return { ...run, pending: run.pending ?? countDecisions(await this.waiting.requests(run.id)) };
    });
    return { ...page, runs: await Promise.all(runs) };
  }
}
