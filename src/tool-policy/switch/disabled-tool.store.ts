import { Injectable } from '@nestjs/common';
import { Database, type Table } from '../../persistence/index.js';
import { DisabledToolEntity, type DisabledTool } from './entities/disabled-tool.entity.js';

/** The table `disabled_tool`: its rows are disabled tools. */
@Injectable()
export class DisabledToolStore {
  private readonly tools: Table<DisabledTool>;

  constructor(database: Database) {
    this.tools = database.table(DisabledToolEntity);
  }

  /** Names of a tenant's disabled tools. */
  async names(tenant: string): Promise<string[]> {
    const found = await this.tools.find({ where: { tenant }, order: { name: 'ASC' } });
    return found.map(({ name }) => name);
  }

  /** Disables a tool; an existing row is not changed. @param at epoch ms */
  async add(tenant: string, name: string, by: string, at: number): Promise<void> {
    await this.tools.insertIfAbsent({ tenant, name, disabledBy: by, disabledAt: at });
  }

  async remove(tenant: string, name: string): Promise<void> {
    await this.tools.delete({ tenant, name });
  }
}
