import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';

/** The table `disabled_tool`: its rows are disabled tools. */
@Injectable()
export class DisabledToolStore {
  constructor(private readonly database: Database) {}

  /** Names of a tenant's disabled tools. */
  async names(tenant: string): Promise<string[]> {
    const sql = 'SELECT name FROM disabled_tool WHERE tenant = ? ORDER BY name';
    return (await this.database.query<{ name: string }>(sql, [tenant])).map(({ name }) => name);
  }

  /** Disables a tool; an existing row is not changed. @param at epoch ms */
  async add(tenant: string, name: string, by: string, at: number): Promise<void> {
    const row = { tenant, name, disabled_by: by, disabled_at: at };
    await this.database.commit([this.database.insertIgnore('disabled_tool', row)]);
  }

  async remove(tenant: string, name: string): Promise<void> {
    const sql = 'DELETE FROM disabled_tool WHERE tenant = ? AND name = ?';
    await this.database.commit([{ sql, params: [tenant, name] }]);
  }
}
