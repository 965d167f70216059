import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Principal } from '../common/index.js';
import { AccessLogService, CurrentPrincipal } from '../security/index.js';
import { SessionService } from '../session/index.js';
import { PageQueryDto } from './page-query.dto.js';
import { MessagePageDto, SessionDto } from './session.dto.js';
import { toMessagePage, toSessionView } from './session.mapper.js';

@Controller('sessions')
export class SessionController {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: AccessLogService,
  ) {}

  /** A conversation. */
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<SessionDto> {
    const session = await this.sessions.get(principal, id);
    this.access.record(principal, 'read', 'session', id);
    return toSessionView(session);
  }

  /** The session's messages, whole turns a page, oldest first. */
  @Get(':id/messages')
  async messages(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { after = 0, limit = 50 }: PageQueryDto,
  ): Promise<MessagePageDto> {
    const turns = await this.sessions.turns(principal, id, after, limit + 1);
    this.access.record(principal, 'read', 'session.messages', id);
    return toMessagePage(turns, limit);
  }
}
