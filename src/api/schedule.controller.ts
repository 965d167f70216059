import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentRegistry } from '../agent/definition/index.js';
import type { Principal } from '../kernel/index.js';
import { ScheduleService } from '../schedule/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { parseIdempotencyKey } from './client-request.js';
import { IdempotentCreationService } from './idempotent-creation.service.js';
import { placeIn, toCursor } from './list-cursor.js';
import {
  ScheduleChangeDto,
  ScheduleDto,
  ScheduledRunDto,
  SchedulePageDto,
  ScheduleQueryDto,
  ScheduleRequestDto,
} from './schedule.dto.js';
import { toNewSchedule, toScheduleChanges, toScheduleView } from './schedule.mapper.js';

@Controller('schedules')
export class ScheduleController {
  constructor(
    private readonly creations: IdempotentCreationService,
    private readonly schedules: ScheduleService,
    private readonly agents: AgentRegistry,
    private readonly access: AccessLogService,
  ) {}

  /** Schedules runs of an agent or a workflow. They execute with the rights that the caller has at each time. */
  @Requires('chat')
  @Post()
  async create(
    @CurrentPrincipal() principal: Principal,
    @Body() body: ScheduleRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
  ): Promise<ScheduleDto> {
    const request = parseIdempotencyKey(idempotencyKey, 'schedules', body);
    const wanted = toNewSchedule(body, this.agents.get(undefined).definition.name);
    return this.creations.run<ScheduleDto>(principal, request, reply, {
      create: async (id) => toScheduleView(await this.schedules.create(principal, wanted, id)),
      find: async (id) => toScheduleView(await this.schedules.get(principal, id)),
    });
  }

  /** The schedules that the caller may see, newest first. */
  @Requires('runs:read')
  @Get()
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() { limit = 50, cursor }: ScheduleQueryDto,
  ): Promise<SchedulePageDto> {
    const { schedules, next } = await this.schedules.list(principal, limit, placeIn(cursor));
    this.access.record(principal, 'read', 'schedules', '');
    return { schedules: schedules.map(toScheduleView), next: toCursor('schedules', next) };
  }

  /** One schedule, with its next time and the outcome of the last one. */
  @Requires('runs:read')
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ScheduleDto> {
    const schedule = await this.schedules.get(principal, id);
    this.access.record(principal, 'read', 'schedule', id);
    return toScheduleView(schedule);
  }

  /** Changes a schedule. Only its owner may change the message or the input, which are used with the owner's rights. */
  @Requires('chat')
  @Patch(':id')
  async change(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: ScheduleChangeDto,
  ): Promise<ScheduleDto> {
    const changes = toScheduleChanges(body, await this.schedules.get(principal, id));
    return toScheduleView(await this.schedules.change(principal, id, changes));
  }

  /** Deletes a schedule. Its runs continue. */
  @Requires('chat')
  @Delete(':id')
  @HttpCode(204)
  async remove(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.schedules.remove(principal, id);
  }

  /** Starts a run of the schedule now, with its owner's rights and apart from its times. */
  @Requires('chat')
  @Post(':id/run')
  @HttpCode(202)
  async trigger(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ScheduledRunDto> {
    return { run_id: await this.schedules.trigger(principal, id) };
  }
}
