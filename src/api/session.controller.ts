import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Principal } from '../common/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { SessionService } from '../session/index.js';
import { MessagePageDto, MessageQueryDto, SessionDto } from './session.dto.js';
import { toMessagePage, toSessionView } from './session.mapper.js';

@Requires('sessions:read')
@Controller('sessions')
export class SessionController {
  constructor(private readonly sessions: SessionService) {}

  /** A conversation. */
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<SessionDto> {
    return toSessionView(await this.sessions.get(principal, id));
  }

  /** The session's messages, whole turns a page, oldest first. */
  @Get(':id/messages')
  async messages(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { after = 0, limit = 50 }: MessageQueryDto,
  ): Promise<MessagePageDto> {
    return toMessagePage(await this.sessions.turns(principal, id, after, limit + 1), limit);
  }
}
