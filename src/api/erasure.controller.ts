import { DAY_MS } from '../kernel/index.js';
import { Body, Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { UserErasureService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { SessionAdminService } from '../session/index.js';
import { ErasureDto, PruneDto, PrunedDto } from './erasure.dto.js';

/** Erasure, for administrators only. */
@Requires('erase')
@Controller()
export class ErasureController {
  constructor(
    private readonly sessions: SessionAdminService,
    private readonly users: UserErasureService,
    private readonly access: AccessLogService,
  ) {}

  /** Deletes the tenant's sessions without activity for `olderThanDays` days. Sessions with unfinished runs stay. */
  @Post('sessions/prune')
  @HttpCode(200)
  async prune(@CurrentPrincipal() principal: Principal, @Body() { olderThanDays }: PruneDto): Promise<PrunedDto> {
    const pruned = await this.sessions.prune(principal, Date.now() - olderThanDays * DAY_MS);
    this.access.record(principal, 'erase', 'tenant', '');
    return { ...pruned };
  }

  /** Erases a user of the tenant: sessions, runs and remembered facts. 409 while the user has unfinished runs. */
  @Delete('users/:id')
  async erase(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ErasureDto> {
    const erased = await this.users.erase(principal, id);
    this.access.record(principal, 'erase', 'user', id);
    return erased;
  }
}
