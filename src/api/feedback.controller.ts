import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { RunDatasetService } from '../agent/history/index.js';
import type { Principal } from '../kernel/index.js';
import { type FeedbackFilter, type RunFeedback, RunFeedbackService } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import {
  DatasetPageDto,
  DatasetQueryDto,
  FeedbackDto,
  FeedbackFilterDto,
  FeedbackPageDto,
  FeedbackQueryDto,
  FeedbackRequestDto,
  FeedbackSummaryDto,
  RunFeedbackDto,
} from './feedback.dto.js';
import { placeIn, timePlaceIn, toCursor } from './list-cursor.js';
import { toTimeRange } from './time-range-query.dto.js';

function toFeedbackView(feedback: RunFeedback): FeedbackDto {
  const { runId, agent, givenBy, score, comment, correction, createdAt } = feedback;
  return { run_id: runId, agent, given_by: givenBy, score, comment, correction, created_at: createdAt };
}

/** @param query validated */
function toFilter({ agent, minScore, maxScore, corrected, ...times }: FeedbackFilterDto): FeedbackFilter {
  return {
    ...toTimeRange(times),
    ...(agent !== undefined && { agent }),
    ...(minScore !== undefined && { minScore }),
    ...(maxScore !== undefined && { maxScore }),
    ...(corrected === 'true' && { isCorrected: true }),
  };
}

@Controller()
export class FeedbackController {
  constructor(
    private readonly feedback: RunFeedbackService,
    private readonly datasets: RunDatasetService,
    private readonly access: AccessLogService,
  ) {}

  /** Gives feedback on an ended run, and replaces earlier feedback of the caller. */
  @Requires('chat', 'runs:write')
  @Post('runs/:id/feedback')
  @HttpCode(200)
  async give(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: FeedbackRequestDto,
  ): Promise<FeedbackDto> {
    return toFeedbackView(await this.feedback.give(principal, id, body));
  }

  /** Withdraws the caller's feedback on a run. */
  @Requires('chat', 'runs:write')
  @Delete('runs/:id/feedback')
  @HttpCode(204)
  async withdraw(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.feedback.withdraw(principal, id);
  }

  /** The feedback on a run, newest first. */
  @Requires('runs:read')
  @Get('runs/:id/feedback')
  async of(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<RunFeedbackDto> {
    const feedback = await this.feedback.of(principal, id);
    this.access.record(principal, 'read', 'run', id);
    return { feedback: feedback.map(toFeedbackView) };
  }

  /** The feedback on runs that the caller may see, newest first. */
  @Requires('runs:read')
  @Get('feedback')
  async list(@CurrentPrincipal() principal: Principal, @Query() query: FeedbackQueryDto): Promise<FeedbackPageDto> {
    const { limit = 50, cursor, ...filter } = query;
    const found = await this.feedback.list(principal, toFilter(filter), limit + 1, timePlaceIn(cursor));
    this.access.record(principal, 'read', 'runs', '');
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next = found.length > limit && last ? `${last.createdAt}.${last.runId}` : null;
    return { feedback: page.map(toFeedbackView), next: toCursor('feedback', next) };
  }

  /** Number of feedback, mean score and corrections by agent, of runs that the caller may see. */
  @Requires('runs:read')
  @Get('feedback/summary')
  async summary(
    @CurrentPrincipal() principal: Principal,
    @Query() query: FeedbackFilterDto,
  ): Promise<FeedbackSummaryDto> {
    const sums = await this.feedback.summary(principal, toFilter(query));
    this.access.record(principal, 'read', 'runs', '');
    const agents = sums.map(({ meanScore, ...sum }) => ({ ...sum, mean_score: meanScore }));
    return { agents };
  }

  /** Runs with their inputs and answers, or corrections of them, as lines of a dataset for evals. */
  @Requires('runs:read')
  @Get('feedback/dataset')
  async dataset(@CurrentPrincipal() principal: Principal, @Query() query: DatasetQueryDto): Promise<DatasetPageDto> {
    const { limit = 50, cursor, ...filter } = query;
    const { lines, next } = await this.datasets.page(principal, toFilter(filter), limit, placeIn(cursor));
    this.access.record(principal, 'read', 'runs', '');
    return {
      lines: lines.map((line) => ({ ...line, metadata: { ...line.metadata } })),
      next: toCursor('dataset', next),
    };
  }
}
