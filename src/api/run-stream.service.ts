import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { RunHistoryService } from '../agent/history/index.js';
import type { Principal } from '../kernel/index.js';
import { isOpen } from '../run/index.js';
import type { RunItem } from '../run/event/index.js';
import { disconnectSignal } from './client-request.js';
import { EventStreamService } from './event-stream.service.js';

/** Streams a run's events over HTTP from the client's position. */
@Injectable()
export class RunStreamService {
  constructor(
    private readonly history: RunHistoryService,
    private readonly streams: EventStreamService,
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
    const signal = disconnectSignal(reply);
    const { status, isFromStart, items } = await this.history.follow(principal, { runId, lastEventId }, signal);
    const first = isFromStart || isOpen(status) ? undefined : await items.next();
    if (first?.done) await reply.status(204).send();
    else await this.streams.send(reply, { run_id: runId }, startingWith(first?.value, items), signal);
  }
}

async function* startingWith(
  first: RunItem | undefined,
  items: AsyncGenerator<RunItem, void>,
): AsyncGenerator<RunItem, void> {
  if (first) yield first;
  yield* items;
}
