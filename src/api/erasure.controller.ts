import { DAY_MS } from '../common/index.js';
import { Body, Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { UserErasureService } from '../agent/index.js';
import type { Principal } from '../common/index.js';
import { AccessLogService, CurrentPrincipal, Requires } from '../security/index.js';
import { SessionKeeper } from '../session/index.js';
import { ErasureDto, PruneDto, PrunedDto } from './erasure.dto.js';

/** What only admins may delete. */
@Requires('erase')
@Controller()
export class ErasureController {
  constructor(
    private readonly sessions: SessionKeeper,
    private readonly users: UserErasureService,
    private readonly access: AccessLogService,
  ) {}

  /** Deletes the tenant's sessions in which nothing has happened for so many days, but those that a run holds. */
  @Post('sessions/prune')
  @HttpCode(200)
  async prune(@CurrentPrincipal() principal: Principal, @Body() { olderThanDays }: PruneDto): Promise<PrunedDto> {
    const pruned = await this.sessions.prune(principal, Date.now() - olderThanDays * DAY_MS);
    this.access.record(principal, 'erase', 'tenant', '');
    return { ...pruned };
  }

  /** Forgets a user of the tenant: sessions, runs and what was kept in mind. 409 while runs of the user have not ended. */
  @Delete('users/:id')
  async erase(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ErasureDto> {
    const erased = await this.users.erase(principal, id);
    this.access.record(principal, 'erase', 'user', id);
    return erased;
  }
}
