import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import type { AccessAction, AccessEntry, AccessFilter, AccessTarget } from './access-log.types.js';

interface AccessRow {
  readonly id: string;
  readonly tenant: string;
  readonly at: number;
  readonly principal: string;
  readonly action: AccessAction;
  readonly target_kind: AccessTarget;
  readonly target_id: string;
}

type Condition = readonly [sql: string, ...params: SqlValue[]];

const OLD = 'at < ?';

/** The table `access_log`: insert, list, delete expired entries. */
@Injectable()
export class AccessLogStore {
  constructor(private readonly database: Database) {}

  /** As `Database.onceOpen`. */
  onceOpen(work: () => void): Promise<void> {
    return this.database.onceOpen(work);
  }

  /** Inserts entries in one batch; existing entries are not changed. */
  async add(entries: readonly AccessEntry[]): Promise<void> {
    await this.database.commit(
      entries.map(({ targetKind, targetId, ...entry }) =>
        this.database.insertIgnore('access_log', { ...entry, target_kind: targetKind, target_id: targetId }),
      ),
    );
  }

  /**
   * The entries of tenants, newest first.
   * @param before the last entry of the previous page
   */
  async list(
    tenants: readonly string[],
    filter: AccessFilter,
    limit: number,
    before?: Pick<AccessEntry, 'at' | 'id'>,
  ): Promise<AccessEntry[]> {
    const conditions: Condition[] = [
      [`tenant IN (${tenants.map(() => '?').join(', ')})`, ...tenants],
      ...conditionsOf(filter),
    ];
    // `at <= ?` is redundant, but lets the database use the index.
    if (before) conditions.push(['at <= ? AND (at < ? OR id < ?)', before.at, before.at, before.id]);
    const where = conditions.map(([sql]) => sql).join(' AND ');
    const rows = await this.database.query<AccessRow>(
      `SELECT id, tenant, at, principal, action, target_kind, target_id FROM access_log
        WHERE ${where} ORDER BY at DESC, id DESC LIMIT ?`,
      [...conditions.flatMap(([, ...params]) => params), limit],
    );
    return rows.map(({ target_kind, target_id, ...row }) => ({ ...row, targetKind: target_kind, targetId: target_id }));
  }

  /** Deletes up to `limit` entries older than `time` (epoch ms). @returns whether older entries remain */
  async dropBefore(time: number, limit: number): Promise<boolean> {
    await this.database.commit([this.database.limitedDelete('access_log', ['id'], OLD, [time], limit)]);
    return (await this.database.query(`SELECT at FROM access_log WHERE ${OLD} ORDER BY at LIMIT 1`, [time])).length > 0;
  }
}

function conditionsOf({ principal, targetKind, targetId, from, to }: AccessFilter): Condition[] {
  const conditions: Condition[] = [];
  if (principal !== undefined) conditions.push(['principal = ?', principal]);
  if (targetKind !== undefined) conditions.push(['target_kind = ?', targetKind]);
  if (targetId !== undefined) conditions.push(['target_id = ?', targetId]);
  if (from !== undefined) conditions.push(['at >= ?', from]);
  if (to !== undefined) conditions.push(['at < ?', to]);
  return conditions;
}
