import { Controller, Get, Query } from '@nestjs/common';
import { RunSearchService, type ShownWait } from '../agent/history/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { placeIn, toCursor } from './list-cursor.js';
import type { WaitingRequestDto } from './run-answer.dto.js';
import { type ListedRequestDto, WaitingPageDto, WaitingQueryDto } from './waiting.dto.js';

@Requires('runs:read')
@Controller('waiting')
export class WaitingController {
  constructor(private readonly search: RunSearchService) {}

  /** All requests that wait for a person, in runs that the caller may see; those of a child run are listed there. */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: WaitingQueryDto): Promise<WaitingPageDto> {
    const { kind, agent, cursor, limit = 50 } = query;
    const found = await this.search.waits(principal, { agent, after: placeIn(cursor) }, limit + 1);
    const page = found.slice(0, limit);
    const requests = page.flatMap(toListed).filter(({ request }) => kind === undefined || request.kind === kind);
    return { requests, next: toCursor('waiting', found.length > limit ? page.at(-1)!.id : null) };
  }
}

function toListed({ id, sessionId, agent, createdAt, since, requests }: ShownWait): ListedRequestDto[] {
  return requests.map(({ request, mayDecide }) => ({
    run_id: id,
    session_id: sessionId,
    agent,
    created_at: createdAt,
    waiting_since: since,
    may_decide: mayDecide,
    request: request as WaitingRequestDto,
  }));
}
