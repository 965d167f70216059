import { Body, Controller, Headers, HttpCode, Param, Post, Req, Sse } from '@nestjs/common';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { AgentService } from 'jackdaw';
import type { ReaderRequest } from '../access/reader.js';
import { Bare } from '../http/envelope.interceptor.js';
import { principalOf } from './principal.js';

class Question {
  @IsString()
  @MaxLength(2_000)
  question!: string;

  @IsOptional()
  @IsString()
  sessionId?: string;
}

/** A route of the application that asks the agent. Its answers have the application's own envelope. */
@Controller('questions')
export class AssistantController {
  constructor(private readonly agents: AgentService) {}

  @Post()
  @HttpCode(200)
  async ask(@Body() { question, sessionId }: Question, @Req() request: ReaderRequest) {
    const answer = await this.agents.chat(principalOf(request)!, {
      query: question,
      ...(sessionId !== undefined && { sessionId }),
    });
    return { answer: answer.result, status: answer.status, sessionId: answer.session_id };
  }

  /** Starts a run, which the browser follows by an `EventSource`. */
  @Post('background')
  @HttpCode(202)
  async start(@Body() { question }: Question, @Req() request: ReaderRequest) {
    const { id } = await this.agents.submit(principalOf(request)!, { query: question });
    return { runId: id };
  }

  @Sse(':runId/events')
  @Bare()
  events(@Param('runId') runId: string, @Req() request: ReaderRequest, @Headers('last-event-id') lastEventId?: string) {
    return this.agents.events(principalOf(request)!, { runId, lastEventId });
  }
}
