import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { EvalReportStore, type ListedEval } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { EvalDto, EvalPageDto, EvalQueryDto, EvalRequestDto } from './eval.dto.js';
import { parseIdempotencyKey } from './client-request.js';
import { IdempotentCreationService } from './idempotent-creation.service.js';
import { timePlaceIn, toCursor } from './list-cursor.js';

function toEvalView({ id, createdBy, createdAt, report }: ListedEval): EvalDto {
  return { id, created_by: createdBy, created_at: createdAt, report: { ...report } };
}

@Requires('runs:read')
@Controller('evals')
export class EvalController {
  constructor(
    private readonly evals: EvalReportStore,
    private readonly creations: IdempotentCreationService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Stores the report of an eval, as `jackdaw eval` does at its end. An `Idempotency-Key` makes a repeated request return
   * the same eval.
   */
  @Requires('chat')
  @Post()
  async create(
    @CurrentPrincipal() principal: Principal,
    @Body() body: EvalRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<EvalDto> {
    const stored = await this.creations.run(principal, parseIdempotencyKey(key, 'evals', body), reply, {
      create: (id) => this.evals.add(principal, id, body.report),
      find: (id) => this.evals.figures(principal, id),
    });
    return toEvalView(stored);
  }

  /** The evals that the caller may see, newest first, without the results of their lines. */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: EvalQueryDto): Promise<EvalPageDto> {
    const { limit = 50, name, cursor } = query;
    const found = await this.evals.list(principal, name, limit + 1, timePlaceIn(cursor));
    this.access.record(principal, 'read', 'evals', '');
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next = found.length > limit && last ? `${last.createdAt}.${last.id}` : null;
    return { evals: page.map(toEvalView), next: toCursor('evals', next) };
  }

  /** An eval with the results of its lines. */
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<EvalDto> {
    const stored = await this.evals.get(principal, id);
    this.access.record(principal, 'read', 'eval', id);
    return toEvalView(stored);
  }

  /** Deletes the report of an eval; its runs stay until their retention ends. */
  @Requires('chat', 'runs:write')
  @Delete(':id')
  @HttpCode(204)
  async remove(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.evals.remove(principal, id);
    this.access.record(principal, 'erase', 'eval', id);
  }
}
