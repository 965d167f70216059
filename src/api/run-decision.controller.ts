import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { AgentDecisionService } from '../agent/index.js';
import type { Principal } from '../common/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { RunAnswerDto } from './run-answer.dto.js';
import { ApproveDto, DenyDto, InputDto, SettleDto } from './run-decision.dto.js';

@Requires('runs:write')
@Controller('runs/:id')
export class RunDecisionController {
  constructor(private readonly decisions: AgentDecisionService) {}

  /** Lets calls be made that wait for approval, one of them with other arguments if wanted. */
  @Post('approve')
  @HttpCode(202)
  approve(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: ApproveDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.approve(principal, id, body);
  }

  /** Says no to calls that wait for approval, or, where none does, to tools that ask something. */
  @Post('deny')
  @HttpCode(202)
  deny(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: DenyDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.deny(principal, id, body);
  }

  /** Answers the question of a tool. */
  @Post('input')
  @HttpCode(202)
  input(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: InputDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.input(principal, id, body);
  }

  /** Says what became of a call that a crash cut off. */
  @Post('settle')
  @HttpCode(202)
  settle(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: SettleDto,
  ): Promise<RunAnswerDto> {
    return this.decisions.settle(principal, id, body);
  }
}
