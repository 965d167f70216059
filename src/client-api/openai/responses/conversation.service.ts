import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AppError } from '../../../errors/index.js';
import { newId, type Principal } from '../../../kernel/index.js';
import { RunAdmissionService } from '../../../run/index.js';
import { AccessLogService } from '../../../security/access-log/index.js';
import { SessionAdminService, type SessionRecord, SessionService } from '../../../session/index.js';
import { invalid } from '../../client-conversation.js';
import { parsedBy } from '../../client-request.parser.js';
import { type ListedItem, toItems, toList } from './response-admin.service.js';

const bodySchema = z.looseObject({
  metadata: z.record(z.string(), z.unknown()).nullish(),
  items: z.array(z.unknown()).nullish(),
});

const MAX_ITEMS = 100;
const DEFAULT_ITEMS = 20;

interface ItemQuery {
  readonly order?: string;
  readonly limit?: string;
  /** The id of the item before the page. */
  readonly after?: string;
}

/** Sessions as conversations of OpenAI's API. */
@Injectable()
export class ConversationService {
  constructor(
    private readonly sessions: SessionService,
    private readonly admin: SessionAdminService,
    private readonly admission: RunAdmissionService,
    private readonly access: AccessLogService,
  ) {}

  async create(principal: Principal, body: unknown): Promise<object> {
    const { metadata, items } = parsedBy(bodySchema, body ?? {});
    if (items && items.length > 0) this.refuseChange();
    const session = { id: newId(), metadata: metadata ?? {} };
    return toConversation(await this.admission.admit(() => this.admin.create(principal, session)));
  }

  async get(principal: Principal, id: string): Promise<object> {
    const session = await this.sessions.get(principal, id);
    this.access.record(principal, 'read', 'session', id);
    return toConversation(session);
  }

  async update(principal: Principal, id: string, body: unknown): Promise<object> {
    const { metadata } = parsedBy(bodySchema, body);
    await this.admin.setMetadata(principal, id, metadata ?? {});
    return this.get(principal, id);
  }

  async remove(principal: Principal, id: string): Promise<object> {
    await this.admin.remove(principal, id);
    this.access.record(principal, 'erase', 'session', id);
    return { id, object: 'conversation.deleted', deleted: true };
  }

  /** A page of items; the ids of items name their turns, so that a page reads only its own turns. */
  async items(principal: Principal, id: string, query: ItemQuery): Promise<object> {
    const { after } = query;
    const count = countOf(query);
    const session = await this.sessions.get(principal, id);
    const { first, last, hasMore } = pageOf(session, query, count);
    const read = await this.read(principal, id, first, last - first + 1);
    const sorted = query.order === 'asc' ? read : read.toReversed();
    const fresh = sorted.slice(after === undefined ? 0 : sorted.findIndex((item) => item.id === after) + 1);
    return toList(fresh.slice(0, count), fresh.length > count || hasMore);
  }

  async item(principal: Principal, id: string, itemId: string): Promise<object> {
    const turn = turnOf(itemId);
    const items = turn === null ? [] : await this.read(principal, id, turn, 1);
    const found = items.find((item) => item.id === itemId);
    if (found) return found;
    throw new AppError('NOT_FOUND', `The conversation "${id}" has no item "${itemId}".`);
  }

  /** @throws AppError `NOT_SUPPORTED` */
  refuseChange(): never {
    throw new AppError(
      'NOT_SUPPORTED',
      'Items of a conversation cannot be added or deleted: only responses write the history of a session.',
    );
  }

  /** The items of some turns. @param first number of the first turn */
  private async read(principal: Principal, id: string, first: number, count: number): Promise<readonly ListedItem[]> {
    const turns = count < 1 ? [] : await this.sessions.turns(principal, id, first - 1, count);
    this.access.record(principal, 'read', 'session.messages', id);
    return turns.flatMap(({ turn, messages }) =>
      messages.flatMap((message, at) => toItems(message, `item_${turn}_${at}`)),
    );
  }
}

function countOf({ limit }: ItemQuery): number {
  const count = limit === undefined ? DEFAULT_ITEMS : Number(limit);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_ITEMS) return count;
  throw invalid('limit', `must be a whole number from 1 to ${MAX_ITEMS}`, limit);
}

/** The turns of a page. Each turn has an item at least; that of `after` may have further ones. */
function pageOf({ lastTurn, clearedTurn }: SessionRecord, { order, after }: ItemQuery, count: number) {
  const turn = after === undefined ? undefined : turnOf(after);
  if (turn === null) throw invalid('after', 'must be the id of an item', after);
  const oldest = clearedTurn + 1;
  if (order === 'asc') {
    const first = turn ?? oldest;
    const last = Math.min(lastTurn, first + count);
    return { first, last, hasMore: last < lastTurn };
  }
  const last = turn ?? lastTurn;
  const first = Math.max(oldest, last - count);
  return { first, last, hasMore: first > oldest };
}

/** The turn of an item; `null` for an id of another kind. */
function turnOf(itemId: string): number | null {
  const [, turn] = /^item_(\d{1,9})_\d+(?:_\d+)?$/.exec(itemId) ?? [];
  return turn === undefined ? null : Number(turn);
}

function toConversation({ id, createdAt, metadata }: SessionRecord): object {
  return { id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata };
}
