import { Body, Controller, HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { AgentDecisionService, AgentService, type Principal, type RunAnswer } from 'jackdaw';
import { Caller } from '../access/caller.decorator.js';
import { CallerGuard } from '../access/caller.guard.js';
import { StaffGuard } from '../access/staff.guard.js';
import { Question } from './question.dto.js';

interface Answer {
  readonly answer: string;
  readonly status: string;
  readonly sessionId: string | null;
  readonly runId: string;
  /** Tools whose calls wait for approval by staff. */
  readonly waitsFor: readonly string[];
}

@Controller('support')
@UseGuards(CallerGuard)
export class SupportController {
  constructor(
    private readonly agents: AgentService,
    private readonly decisions: AgentDecisionService,
  ) {}

  @Post('questions')
  @HttpCode(200)
  async ask(@Caller() caller: Principal, @Body() { question, sessionId }: Question): Promise<Answer> {
    const request = { query: question, ...(sessionId !== undefined && { sessionId }) };
    return toAnswer(await this.agents.chat(caller, request));
  }

  /** Approves the pending calls of a run and returns the agent's answer. */
  @Post('runs/:id/approve')
  @HttpCode(200)
  @UseGuards(StaffGuard)
  async approve(@Caller() caller: Principal, @Param('id') id: string): Promise<Answer> {
    await this.decisions.approve(caller, id);
    return toAnswer(await this.agents.outcome(caller, id));
  }
}

function toAnswer({ result, status, session_id, run_id, waiting = [] }: RunAnswer): Answer {
  const waitsFor = waiting.map(({ tool }) => tool);
  return { answer: result ?? '', status, sessionId: session_id, runId: run_id, waitsFor };
}
