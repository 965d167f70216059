import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import {
  isOpen,
  parseRunPlace,
  RunFollowService,
  type RunItem,
  RunService,
  START,
  type RunPlace,
} from '../run/index.js';
import { AccessLogService } from '../security/index.js';
import { disconnectSignal } from './disconnect.factory.js';
import { EventStreamService } from './event-stream.service.js';

/** Streams a run's events over HTTP from the client's position. */
@Injectable()
export class RunStreamService {
  constructor(
    private readonly runs: RunService,
    private readonly follower: RunFollowService,
    private readonly streams: EventStreamService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Answers 204 if the run has ended and the client has all events, so that an `EventSource` does not connect again.
   * @param lastEventId header `Last-Event-ID`. @throws AppError `RUN_NOT_FOUND`, `VALIDATION_FAILED`
   */
  async follow(
    principal: Principal,
    runId: string,
    lastEventId: string | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const from = toPlace(lastEventId);
    const { status } = await this.runs.get(principal, runId);
    this.access.record(principal, 'read', 'run.events', runId);
    const signal = disconnectSignal(reply);
    const items = this.follower.open(runId).items(from, signal);
    const first = from === START || isOpen(status) ? undefined : await items.next();
    if (first?.done) await reply.status(204).send();
    else await this.streams.send(reply, runId, startingWith(first?.value, items), signal);
  }
}

async function* startingWith(
  first: RunItem | undefined,
  items: AsyncGenerator<RunItem, void>,
): AsyncGenerator<RunItem, void> {
  if (first) yield first;
  yield* items;
}

function toPlace(lastEventId: string | undefined): RunPlace {
  const place = lastEventId === undefined || lastEventId === '' ? START : parseRunPlace(lastEventId);
  if (place) return place;
  const message = `Last-Event-ID must be the id of an event of this run, like 12 or 12.1000003.250; got "${lastEventId?.slice(0, 40)}".`;
  const errors = [fieldMistake('Last-Event-ID', message, 'isEventId', lastEventId)];
  throw new AppError('VALIDATION_FAILED', message, { details: { errors } });
}
