import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { RunSearchService } from '../agent/history/index.js';
import type { Principal } from '../kernel/index.js';
import type { RunChange } from '../run/query/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { disconnectSignal } from './client-request.js';
import { EventStreamService, type StreamItem } from './event-stream.service.js';
import { toListedRun } from './listed-run.mapper.js';
import { RunChangeQueryDto } from './run-list.dto.js';

/** A stream ends after this time, so that the next request authenticates its client again, in ms. */
const MAX_STREAM_MS = 600_000;

@Requires('runs:read')
@Controller('events')
export class RunChangeController {
  constructor(
    private readonly search: RunSearchService,
    private readonly streams: EventStreamService,
  ) {}

  /**
   * The status changes of all runs that the caller may see, as server-sent events: each at least once. The stream ends after 10
   * minutes; a client continues with `Last-Event-ID`, and receives the changes since then.
   */
  @Get()
  async follow(
    @CurrentPrincipal() principal: Principal,
    @Query() { follow }: RunChangeQueryDto,
    @Res() reply: FastifyReply,
    @Headers('last-event-id') lastEventId?: string,
  ): Promise<void> {
    const signal = AbortSignal.any([disconnectSignal(reply), AbortSignal.timeout(MAX_STREAM_MS)]);
    const position = { after: lastEventId, isLive: follow !== 'false' };
    const changes = this.search.changes(principal, position, signal);
    await this.streams.send(reply, {}, toItems(changes), signal);
  }
}

async function* toItems(changes: AsyncGenerator<RunChange, void>): AsyncGenerator<StreamItem, void> {
  for await (const { position, run } of changes) {
    const event = run === null ? { type: 'feed.opened' } : { type: 'run.changed', run: toListedRun(run) };
    yield { id: position, event, data: JSON.stringify(event) };
  }
}
