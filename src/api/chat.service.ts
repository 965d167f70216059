import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService } from '../agent/index.js';
import { AppError, type Principal } from '../common/index.js';
import { RunService } from '../run/index.js';
import { toChatAnswer } from './answer.mapper.js';
import type { ChatRequestDto } from './chat-request.dto.js';
import { disconnectSignal } from './disconnect.factory.js';
import { EventStreamService } from './event-stream.service.js';
import type { ChatAnswerDto } from './run-answer.dto.js';

/** A chat over HTTP: one answer, or the events as they come. */
@Injectable()
export class ChatService {
  private readonly logger = new Logger(ChatService.name);

  constructor(
    private readonly agents: AgentService,
    private readonly runs: RunService,
    private readonly streams: EventStreamService,
  ) {}

  /** The answer when the run has ended, or 202 when it waits for a person, itself or behind another run. */
  async answer(principal: Principal, body: ChatRequestDto, reply: FastifyReply): Promise<ChatAnswerDto> {
    const answer = await this.agents.chat(principal, body, (runId) => this.watch(principal, body, reply, runId));
    reply.status(answer.status === 'waiting' || answer.status === 'queued' ? 202 : 200);
    return toChatAnswer(answer, body.includeDetails ?? false);
  }

  async stream(principal: Principal, body: ChatRequestDto, reply: FastifyReply): Promise<void> {
    const signal = disconnectSignal(reply);
    const { id, items } = await this.agents.stream(principal, body, signal);
    this.watch(principal, body, reply, id);
    reply.header('x-run-id', id);
    await this.streams.send(reply, id, items, signal);
  }

  /** A client that goes away cancels nothing unless it asked for that. */
  private watch(principal: Principal, body: ChatRequestDto, reply: FastifyReply, runId: string): void {
    if (!body.cancelOnDisconnect) return;
    const cancel = () => {
      this.runs.cancel(principal, runId).catch((error: unknown) => {
        if (!(error instanceof AppError))
          this.logger.error({ err: error, run_id: runId }, 'A run could not be cancelled');
      });
    };
    const gone = disconnectSignal(reply);
    if (gone.aborted) cancel();
    else gone.addEventListener('abort', cancel, { once: true });
  }
}
