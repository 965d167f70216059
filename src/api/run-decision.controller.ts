import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { AgentDecisionService } from '../agent/decision/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { RunAnswerDto } from './run-answer.dto.js';
import { ApproveDto, DenyDto, InputDto, ReleasedRunsDto, SettleDto } from './run-decision.dto.js';

@Requires('runs:write')
@Controller('runs')
export class RunDecisionController {
  constructor(private readonly decisions: AgentDecisionService) {}

  /** Approves pending tool calls; one of them can get other arguments. */
  @Post(':id/approve')
  @HttpCode(202)
  approve(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: ApproveDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.approve(principal, id, body);
  }

  /** Denies pending tool calls or, without such calls, pending questions of tools. */
  @Post(':id/deny')
  @HttpCode(202)
  deny(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: DenyDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.deny(principal, id, body);
  }

  /** Answers the question of a tool. */
  @Post(':id/input')
  @HttpCode(202)
  input(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: InputDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.input(principal, id, body);
  }

  /** Settles a tool call whose outcome is unknown after a crash. */
  @Post(':id/settle')
  @HttpCode(202)
  settle(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: SettleDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.settle(principal, id, body);
  }

  /** Releases a run that waits because its database was copied or restored from a backup. */
  @Post(':id/release')
  @HttpCode(202)
  release(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<RunAnswerDto> {
    return this.decisions.release(principal, id);
  }

  /** Releases all runs that wait because their database was copied or restored from a backup. */
  @Post('release')
  @HttpCode(202)
  async releaseAll(@CurrentPrincipal() principal: Principal): Promise<ReleasedRunsDto> {
    return { run_ids: await this.decisions.releaseAll(principal) };
  }
}
