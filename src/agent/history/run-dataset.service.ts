import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import { type FeedbackFilter, type RunFeedback, RunFeedbackService, RunService } from '../../run/index.js';
import { RunListStore } from '../../run/query/index.js';
import { AgentService } from '../agent.service.js';
import { AGENT_RUN } from '../sub-agent/sub-agent-tool.factory.js';

/** A run as a line of a dataset for evals. */
export interface DatasetLine {
  /** The id of the run. */
  readonly id: string;
  /** The question to the agent, or the input of the workflow. */
  readonly input: unknown;
  /** The newest correction, else the answer of the run. */
  readonly expected: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface DatasetPage {
  readonly lines: readonly DatasetLine[];
  /** The cursor of the next page; `null` on the last page. */
  readonly next: string | null;
}

const GONE = ['RUN_PRUNED', 'RUN_NOT_FOUND'];

/** Makes datasets of runs and their feedback. */
@Injectable()
export class RunDatasetService {
  constructor(
    private readonly runs: RunService,
    private readonly listed: RunListStore,
    private readonly feedback: RunFeedbackService,
    private readonly agents: AgentService,
  ) {}

  /**
   * Runs that the caller may see, newest first. With a condition on feedback only runs with such feedback, in the order of
   * their feedback; else all completed runs of agents and workflows. Pruned runs are left out.
   * @param cursor the `next` of the previous page
   */
  async page(principal: Principal, filter: FeedbackFilter, limit: number, cursor?: string): Promise<DatasetPage> {
    const isOfFeedback = filter.minScore !== undefined || filter.maxScore !== undefined || filter.isCorrected === true;
    const { ids, next } = isOfFeedback
      ? await this.byFeedback(principal, filter, limit, cursor)
      : await this.byTime(principal, filter, limit, cursor);
    const given = await this.feedback.ofAll(ids);
    const lines: DatasetLine[] = [];
    for (const id of new Set(ids)) {
      const line = await this.line(
        principal,
        id,
        given.filter(({ runId }) => runId === id),
      );
      if (line) lines.push(line);
    }
    return { lines, next };
  }

  private async byFeedback(principal: Principal, filter: FeedbackFilter, limit: number, cursor?: string) {
    const [, at, id] = /^(\d+)\.(.+)$/u.exec(cursor ?? '') ?? [];
    const after = at === undefined || id === undefined ? undefined : { at: Number(at), id };
    const found = await this.feedback.list(principal, filter, limit + 1, after);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      ids: page.map(({ runId }) => runId),
      next: found.length > limit && last ? `${last.createdAt}.${last.runId}` : null,
    };
  }

  private async byTime(principal: Principal, { agent, from, to }: FeedbackFilter, limit: number, cursor?: string) {
    const filter = {
      statuses: ['completed'] as const,
      ...(agent !== undefined && { agent }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    };
    const { runs, next } = await this.listed.list(principal, filter, limit, cursor);
    return { ids: runs.filter(({ kind }) => kind !== 'tool').map(({ id }) => id), next };
  }

  private async line(principal: Principal, id: string, given: readonly RunFeedback[]): Promise<DatasetLine | null> {
    try {
      const run = await this.runs.get(principal, id);
      const { result, output } = await this.agents.answer(principal, id);
      const corrected = given.find(({ correction }) => correction !== null);
      const scored = given.find(({ score }) => score !== null);
      const comment = given.find((one) => one.comment !== null)?.comment;
      return {
        id,
        input: inputOf(run.kind, run.input),
        expected: corrected?.correction ?? output ?? result,
        metadata: {
          agent: run.agent,
          created_at: run.createdAt,
          is_corrected: corrected !== undefined,
          ...(scored && { score: scored.score }),
          ...(comment !== undefined && { comment }),
        },
      };
    } catch (error) {
      if (error instanceof AppError && GONE.includes(error.code)) return null;
      throw error;
    }
  }
}

function inputOf(kind: string, text: string): unknown {
  const input = parseExactJson(text) as { readonly query?: unknown; readonly input?: unknown };
  return kind === AGENT_RUN ? input.query : input.input;
}
