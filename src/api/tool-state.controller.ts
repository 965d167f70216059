import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { ToolStateAdminService } from '../tool-state/index.js';
import { placeIn } from './list-cursor.js';
import {
  ShownToolContextDto,
  ToolContextPageDto,
  ToolStateDto,
  ToolStateHistoryDto,
  ToolStateHistoryQueryDto,
  ToolStateListQueryDto,
  ToolStateRollbackDto,
  ToolStateVersionsDto,
} from './tool-state.dto.js';
import { toContextPage, toHistory, toShownContext, toState, toVersions } from './tool-state.mapper.js';

@Requires('sessions:read')
@Controller('tool-states')
export class ToolStateController {
  constructor(
    private readonly states: ToolStateAdminService,
    private readonly access: AccessLogService,
  ) {}

  /** Tool states in the sessions that the caller may see, without the data. */
  @Get()
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() { tool, sessionId: session, cursor, limit = 50 }: ToolStateListQueryDto,
  ): Promise<ToolContextPageDto> {
    const after = placeIn(cursor);
    const filter = {
      ...(tool !== undefined && { tool }),
      ...(session !== undefined && { session }),
      ...(after !== undefined && { after }),
    };
    const listed = await this.states.list(principal, filter, limit + 1);
    this.access.record(principal, 'read', 'tool-states', '');
    return toContextPage(listed, limit);
  }

  /** The state of a tool in a session. */
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ShownToolContextDto> {
    const context = await this.states.get(principal, id);
    this.access.record(principal, 'read', 'tool-state', id);
    return toShownContext(context);
  }

  /** Calls and rollbacks of the state, newest first. */
  @Get(':id/history')
  async history(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { before, limit = 50 }: ToolStateHistoryQueryDto,
  ): Promise<ToolStateHistoryDto> {
    const entries = await this.states.history(principal, id, limit + 1, before);
    this.access.record(principal, 'read', 'tool-state', id);
    return toHistory(entries, limit);
  }

  /** The stored versions of the business state. */
  @Get(':id/versions')
  async versions(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ToolStateVersionsDto> {
    const versions = await this.states.versions(principal, id);
    this.access.record(principal, 'read', 'tool-state', id);
    return toVersions(versions);
  }

  /**
   * Rolls the business state back to a version; the result is a new version. 409 while a run of the session is
   * unfinished.
   */
  @Requires('sessions:write')
  @Post(':id/rollback')
  @HttpCode(200)
  async rollback(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() { version }: ToolStateRollbackDto,
  ): Promise<ToolStateDto> {
    const state = await this.states.rollback(principal, id, version);
    this.access.record(principal, 'rollback', 'tool-state', id);
    return toState(state);
  }

  /**
   * Deletes the state of a tool in a session, with versions and history. 409 while a run of the session is unfinished.
   */
  @Requires('sessions:write')
  @Delete(':id')
  @HttpCode(204)
  async remove(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.states.remove(principal, id);
    this.access.record(principal, 'erase', 'tool-state', id);
  }
}
