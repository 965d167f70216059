import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AppError } from '../../../errors/index.js';
import { newId, type Principal } from '../../../kernel/index.js';
import { RunAdmissionService } from '../../../run/index.js';
import { AccessLogService } from '../../../security/index.js';
import { SessionAdminService, type SessionRecord, SessionService } from '../../../session/index.js';
import { invalid } from '../../client-conversation.js';
import { parsedBy } from '../chat-request.mapper.js';
import { type ListedItem, toItems, toList } from './message-items.mapper.js';

const bodySchema = z.looseObject({
  metadata: z.record(z.string(), z.unknown()).nullish(),
  items: z.array(z.unknown()).nullish(),
});

/** Turns that are read at once. */
const TURNS = 200;
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

  async items(principal: Principal, id: string, { order, limit, after }: ItemQuery): Promise<object> {
    const count = limit === undefined ? DEFAULT_ITEMS : Number(limit);
    if (!(Number.isInteger(count) && count >= 1 && count <= MAX_ITEMS))
      throw invalid('limit', `must be a whole number from 1 to ${MAX_ITEMS}`, limit);
    const all = await this.all(principal, id);
    const sorted = order === 'asc' ? all : all.toReversed();
    const from = after === undefined ? 0 : sorted.findIndex((item) => item.id === after) + 1;
    return toList(sorted.slice(from, from + count), from + count < sorted.length);
  }

  async item(principal: Principal, id: string, itemId: string): Promise<object> {
    const found = (await this.all(principal, id)).find((item) => item.id === itemId);
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

  private async all(principal: Principal, id: string): Promise<readonly ListedItem[]> {
    const items: ListedItem[] = [];
    for (let after = 0; ;) {
      const turns = await this.sessions.turns(principal, id, after, TURNS);
      for (const { turn, messages } of turns)
        items.push(...messages.flatMap((message, at) => toItems(message, `item_${turn}_${at}`)));
      if (turns.length < TURNS) break;
      after = turns.at(-1)!.turn;
    }
    this.access.record(principal, 'read', 'session.messages', id);
    return items;
  }
}

function toConversation({ id, createdAt, metadata }: SessionRecord): object {
  return { id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata };
}
