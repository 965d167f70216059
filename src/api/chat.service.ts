import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService, type BackgroundRequest } from '../agent/index.js';
import { type RunAnswer, toRunError } from '../agent/answer/index.js';
import { AppError, Log } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { RunService } from '../run/index.js';
import type { BackgroundRequestDto } from './background-request.dto.js';
import type { ChatRequestDto } from './chat-request.dto.js';
import { clientWait, disconnectSignal, markReplay, parseIdempotencyKey } from './client-request.js';
import { EventStreamService } from './event-stream.service.js';
import type { ChatAnswerDto } from './run-answer.dto.js';

/** Body fields that are part of the agent request. The other fields control the response. */
const FIELDS = [
  'sessionId',
  'agent',
  'metadata',
  'references',
  'model',
  'parameters',
  'toolChoice',
  'responseFormat',
  'images',
  'priority',
  'deadlineMs',
] as const satisfies (keyof BackgroundRequest & keyof BackgroundRequestDto)[];

/**
 * Converts a request body to an agent request.
 * @param route distinguishes requests with the same body and key
 * @throws AppError `VALIDATION_FAILED` for an invalid key
 */
function toAgentRequest(
  body: ChatRequestDto | BackgroundRequestDto,
  route: string,
  key: string | undefined,
): BackgroundRequest {
  const idempotency = parseIdempotencyKey(key, route, body);
  const given = body as BackgroundRequestDto;
  const fields = FIELDS.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]] as const]));
  return { query: body.query, ...Object.fromEntries(fields), ...(idempotency && { idempotency }) };
}

/**
 * The body of a chat response.
 * @throws AppError with the failure's code and the run's id if the run failed
 */
function toChatAnswer(answer: RunAnswer, includeDetails: boolean): ChatAnswerDto {
  if (answer.error) throw toRunError(answer);
  const { steps, tool_results, status, agent: _agent, error: _error, run_id, session_id, ...rest } = answer;
  const { result, output, iterations, duration_ms, is_complete, ...facts } = rest;
  return {
    result,
    ...('output' in rest && { output }),
    iterations,
    duration_ms,
    is_complete,
    ...(includeDetails && { steps }),
    // Without a final answer the results of the tools are the outcome.
    ...((includeDetails || facts.finish_reason === 'iteration_limit') && { tool_results }),
    session_id,
    run_id,
    ...(status !== 'completed' && { status }),
    ...facts,
  };
}

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
    const request = { ...toAgentRequest(body, 'chat', key), wait: clientWait(reply, key) };
    const answer = await this.agents.chat(principal, request, (run) => {
      markReplay(reply, run);
      reply.header('x-run-id', run.id);
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
    const request = {
      ...toAgentRequest(body, 'stream', key),
      wait: { signal: key === undefined ? signal : undefined },
    };
    const run = await this.agents.stream(principal, request, signal);
    this.watch(principal, body, reply, run.id);
    markReplay(reply, run);
    reply.header('x-run-id', run.id);
    await this.streams.send(reply, { run_id: run.id }, run.items, signal);
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
