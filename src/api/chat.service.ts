import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { toAgentRequest } from './agent-request.mapper.js';
import { AgentService, type RunAnswer } from '../agent/index.js';
import { AppError, Log } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { RunService } from '../run/index.js';
import { toChatAnswer } from './answer.mapper.js';
import type { BackgroundRequestDto } from './background-request.dto.js';
import type { ChatRequestDto } from './chat-request.dto.js';
import { disconnectSignal } from './disconnect.factory.js';
import { EventStreamService } from './event-stream.service.js';
import { markReplay } from './idempotent-replay.mapper.js';
import type { ChatAnswerDto } from './run-answer.dto.js';

/** Chat over HTTP: one JSON answer, or an event stream. */
@Injectable()
export class ChatService {
  private readonly logger = new Log(ChatService.name);

  constructor(
    private readonly agents: AgentService,
    private readonly runs: RunService,
    private readonly streams: EventStreamService,
  ) {}

  /** Answers when the run has ended, or with 202 when it waits for a decision or is queued behind a waiting run. */
  async answer(
    principal: Principal,
    body: ChatRequestDto,
    key: string | undefined,
    reply: FastifyReply,
  ): Promise<ChatAnswerDto> {
    const answer = await this.agents.chat(principal, toAgentRequest(body, 'chat', key), (run) => {
      markReplay(reply, run);
      this.watch(principal, body, reply, run.id);
    });
    reply.status(answer.status === 'waiting' || answer.status === 'queued' ? 202 : 200);
    return toChatAnswer(answer, body.includeDetails ?? false);
  }

  async stream(
    principal: Principal,
    body: ChatRequestDto,
    key: string | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const signal = disconnectSignal(reply);
    const run = await this.agents.stream(principal, toAgentRequest(body, 'stream', key), signal);
    this.watch(principal, body, reply, run.id);
    markReplay(reply, run);
    reply.header('x-run-id', run.id);
    await this.streams.send(reply, run.id, run.items, signal);
  }

  /** Returns the run's present status; its URL is in the header `Location`. */
  async submit(
    principal: Principal,
    body: BackgroundRequestDto,
    key: string | undefined,
    reply: FastifyReply,
  ): Promise<RunAnswer> {
    // A client that follows the run later receives its messages as a stream.
    const request = { ...toAgentRequest(body, 'runs', key), isStreaming: true };
    const run = await this.agents.submit(principal, request);
    markReplay(reply, run);
    reply.header('location', `/api/runs/${run.id}`);
    return this.agents.answer(principal, run.id);
  }

  /** Cancels the run when the client disconnects, if the request asks for it. */
  private watch(principal: Principal, body: ChatRequestDto, reply: FastifyReply, runId: string): void {
    if (!body.cancelOnDisconnect) return;
    const cancel = () => {
      this.runs.cancel(principal, runId).catch((error: unknown) => {
        if (!(error instanceof AppError))
          this.logger.error({ err: error, run_id: runId }, 'Failed to cancel the run of a disconnected client');
      });
    };
    const disconnected = disconnectSignal(reply);
    if (disconnected.aborted) cancel();
    else disconnected.addEventListener('abort', cancel, { once: true });
  }
}
