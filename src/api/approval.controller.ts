import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { type CallApproval, CallApprovalStore } from '../tool-policy/index.js';
import { type ApprovalDto, ApprovalPageDto, ApprovalQueryDto } from './approval.dto.js';
import { placeIn, toCursor } from './list-cursor.js';

@Controller('approvals')
export class ApprovalController {
  constructor(
    private readonly approvals: CallApprovalStore,
    private readonly access: AccessLogService,
  ) {}

  /** Approvals that also cover later calls (scope `run` or `session`), newest first. Those of ended runs are deleted. */
  @Requires('runs:read')
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: ApprovalQueryDto): Promise<ApprovalPageDto> {
    const limit = query.limit ?? 50;
    const found = await this.approvals.list(principal, query, limit + 1, placeIn(query.cursor));
    const page = found.slice(0, limit);
    this.access.record(principal, 'read', 'approval', '');
    const next = found.length > limit ? page.at(-1)!.id : null;
    return { approvals: page.map(toView), next: toCursor('approvals', next) };
  }

  /** Revokes an approval: later calls wait again. */
  @Requires('runs:write')
  @Delete(':id')
  @HttpCode(204)
  async revoke(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    const isRevoked = await this.approvals.revoke(principal, id);
    if (!isRevoked) throw new AppError('NOT_FOUND', `There is no approval "${id}".`);
    this.access.record(principal, 'revoke', 'approval', id);
  }
}

function toView({ runId, sessionId, decider, decidedAt, ...approval }: CallApproval): ApprovalDto {
  return {
    ...approval,
    addresses: [...approval.addresses],
    run_id: runId,
    session_id: sessionId,
    decided_by: decider.id,
    decided_at: decidedAt,
  };
}
