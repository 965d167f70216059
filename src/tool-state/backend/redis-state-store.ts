import type { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { closeRedisClient } from '../../persistence/index.js';
import type { ContextFilter, ContextKey, StateHistoryEntry } from '../tool-state.types.js';
import {
  changedFields,
  readContext,
  readEntry,
  readHead,
  readOwner,
  readVersion,
  toAboutText,
  toOwnerText,
  writeEntry,
  writeVersion,
  type ContextHead,
} from './redis-context.mapper.js';
import { REMOVE, TIDY, WRITE } from './redis-scripts.js';
import type { StateCodec } from './state-codec.js';
import { storeUnavailable } from './guarded-state-store.js';
import { StateStore, type ContextWrite, type StoredContext, type StoredVersion } from './state-store.js';

/** Number of ids per page. */
const PAGE = 500;

/**
 * Stores contexts in Redis, shared by all its processes. Each context has a hash and sorted sets of its versions and
 * history. Further sorted sets index ids by tenant, session and tool. Redis expires the contexts.
 */
export class RedisStateStore extends StateStore {
  /** Distinguishes the writes of this store from all others. */
  private readonly writer = randomBytes(9).toString('base64url');
  private writes = 0;

  /** @param prefix separates applications that share a Redis */
  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
    private readonly codec: StateCodec,
  ) {
    super();
  }

  async load(id: string): Promise<StoredContext | null> {
    const fields = await this.ask(() => this.redis.hgetall(this.nameOf(id)));
    return readContext(id, fields, this.codec);
  }

  async keyOf(id: string): Promise<ContextKey | null> {
    const head = await this.headOf(id);
    return head && { tenant: head.tenant, session: head.session, tool: head.tool };
  }

  async write(write: ContextWrite): Promise<boolean> {
    const { context, version, oldestVersion, history, oldestHistory } = write;
    const { id, revision, expiresAt } = context;
    const isNew = revision === 1;
    const { set, drop } = changedFields(write, this.codec);
    if (isNew) set.push('owner', toOwnerText(id, context));
    const versions = version ? writeVersion(context, version, this.codec) : [];
    const entries = history.flatMap((entry) => writeEntry(context, entry, this.codec));
    const head = [revision - 1, toAboutText(context, `${this.writer}${this.writes++}`), expiresAt ?? ''];
    const counts = [set.length, drop.length, versions.length, oldestVersion, entries.length, oldestHistory];
    const args = [...head, ...counts, ...set, ...drop, ...versions, ...entries, ...(isNew ? [id] : [])];
    const keys = [...this.partsOf(id), this.expiries, ...(isNew ? this.indexesOf(context) : [])];
    return (await this.ask(() => WRITE.run(this.redis, keys, args))) === 1;
  }

  async versions(id: string): Promise<StoredVersion[]> {
    const tenant = await this.tenantOf(id);
    if (tenant === null) return [];
    const members = await this.ask(() => this.redis.zrevrange(this.versionsOf(id), 0, -1));
    return members.map((member) => readVersion({ tenant, id }, member, this.codec));
  }

  async history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    const tenant = await this.tenantOf(id);
    if (tenant === null) return [];
    const from = before === undefined ? '+inf' : `(${before}`;
    const members = await this.ask(() =>
      this.redis.zrevrangebyscore(this.historyOf(id), from, '-inf', 'LIMIT', 0, limit),
    );
    return members.map((member) => readEntry({ tenant, id }, member, this.codec));
  }

  async remove(id: string, revision?: number): Promise<boolean> {
    const head = await this.headOf(id);
    if (!head) return false;
    const args = [id, toOwnerText(id, head), revision ?? ''];
    return (await this.ask(() => REMOVE.run(this.redis, this.keysOf(id, head), args))) === 1;
  }

  async list(filter: ContextFilter): Promise<string[]> {
    const { limit = Infinity } = filter;
    const now = Date.now();
    const found: string[] = [];
    for (let after = filter.after; found.length < limit;) {
      const from = after === undefined ? '-' : `(${after}`;
      const page = await this.ask(() => this.redis.zrangebylex(this.indexOf(filter), from, '+', 'LIMIT', 0, PAGE));
      const heads = await this.headsOf(page);
      found.push(...page.filter((_, at) => isMeant(heads[at] ?? null, filter, now)));
      if (page.length < PAGE) break;
      after = page.at(-1);
    }
    return found.slice(0, limit);
  }

  /** Removes contexts that Redis has expired from the indexes. */
  async expired(now: number, limit: number): Promise<string[]> {
    for (;;) {
      const range = [this.expiries, '-inf', now, 'LIMIT', 0, limit] as const;
      const members = await this.ask(() => this.redis.zrangebyscore(...range));
      const found: string[] = [];
      for (const member of members) {
        const { id, ...key } = readOwner(member);
        const keys = this.keysOf(id, key);
        if ((await this.ask(() => TIDY.run(this.redis, keys, [id, member]))) === 1) found.push(id);
      }
      if (found.length > 0 || members.length < limit) return found;
    }
  }

  async tenants(): Promise<string[]> {
    const head = this.indexOf({ tenant: '' });
    const found = new Set<string>();
    for (let cursor = '0'; ;) {
      const [next, keys] = await this.ask(() => this.redis.scan(cursor, 'MATCH', `${head}*`, 'COUNT', PAGE));
      for (const key of keys) found.add(key.slice(head.length));
      if (next === '0') return [...found];
      cursor = next;
    }
  }

  async close(): Promise<void> {
    await closeRedisClient(this.redis);
  }

  private async headOf(id: string): Promise<ContextHead | null> {
    const [owner, about] = await this.ask(() => this.redis.hmget(this.nameOf(id), 'owner', 'about'));
    return readHead(owner, about);
  }

  private async tenantOf(id: string): Promise<string | null> {
    return (await this.headOf(id))?.tenant ?? null;
  }

  private async headsOf(ids: readonly string[]): Promise<(ContextHead | null)[]> {
    if (ids.length === 0) return [];
    const batch = this.redis.pipeline();
    for (const id of ids) batch.hmget(this.nameOf(id), 'owner', 'about');
    const results = (await this.ask(() => batch.exec())) ?? [];
    return results.map(([error, texts]) => {
      if (error) throw storeUnavailable('The Redis', error);
      const [owner, about] = texts as (string | null)[];
      return readHead(owner, about);
    });
  }

  private async ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw storeUnavailable('The Redis', error);
    }
  }

  private nameOf(id: string): string {
    return `${this.prefix}{${id}}`;
  }

  private versionsOf(id: string): string {
    return `${this.nameOf(id)}:versions`;
  }

  private historyOf(id: string): string {
    return `${this.nameOf(id)}:history`;
  }

  /** Index of contexts with an expiry, by expiry time. */
  private get expiries(): string {
    return `${this.prefix}expiries`;
  }

  /** The smallest index that contains all matches. */
  private indexOf({ tenant, session, tool }: ContextFilter): string {
    if (session !== undefined) return `${this.prefix}session:${JSON.stringify([tenant, session])}`;
    if (tool !== undefined) return `${this.prefix}tool:${JSON.stringify([tenant, tool])}`;
    return `${this.prefix}tenant:${tenant}`;
  }

  private partsOf(id: string): string[] {
    return [this.nameOf(id), this.versionsOf(id), this.historyOf(id)];
  }

  private indexesOf({ tenant, session, tool }: ContextKey): string[] {
    return [this.indexOf({ tenant }), this.indexOf({ tenant, session }), this.indexOf({ tenant, tool })];
  }

  private keysOf(id: string, key: ContextKey): string[] {
    return [...this.partsOf(id), ...this.indexesOf(key), this.expiries];
  }
}

function isMeant(head: ContextHead | null, { tool, session, sessions }: ContextFilter, now: number): boolean {
  if (!head) return false;
  if (sessions && !sessions.includes(head.session)) return false;
  if (tool !== undefined && head.tool !== tool) return false;
  if (session !== undefined && head.session !== session) return false;
  return head.expiresAt === null || head.expiresAt > now;
}
