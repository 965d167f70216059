import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError, type Principal } from '../common/index.js';
import { RunFollowService, RunService } from '../run/index.js';
import { disconnectSignal } from './disconnect.factory.js';
import { EventStreamService } from './event-stream.service.js';

/** Follows a run over HTTP from the place that the client has reached. */
@Injectable()
export class RunStreamService {
  constructor(
    private readonly runs: RunService,
    private readonly follower: RunFollowService,
    private readonly streams: EventStreamService,
  ) {}

  /** @param lastEventId the `Last-Event-ID` header. @throws AppError `RUN_NOT_FOUND`, `VALIDATION_FAILED` */
  async follow(
    principal: Principal,
    runId: string,
    lastEventId: string | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const after = toPlace(lastEventId);
    await this.runs.get(principal, runId);
    const signal = disconnectSignal(reply);
    await this.streams.send(reply, runId, this.follower.open(runId).items(after, signal), signal);
  }
}

function toPlace(lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return 0;
  if (/^\d{1,9}$/.test(lastEventId)) return Number(lastEventId);
  const message = `Last-Event-ID must be the id of an event of this run, a number; got "${lastEventId.slice(0, 40)}".`;
  throw new AppError('VALIDATION_FAILED', message, { details: { errors: [{ field: 'Last-Event-ID', message }] } });
}
