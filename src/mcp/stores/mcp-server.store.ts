import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { Table } from '../../persistence/schema/index.js';
import { Cipher, type SealedTable, type StoredRow } from '../../security/encryption/index.js';
import { McpServerEntity, type StoredMcpServer } from '../entities/mcp-server.entity.js';

/** A server added over REST. */
export interface AddedServer {
  readonly name: string;
  readonly declaration: unknown;
  readonly createdBy: string;
}

const placeOf = (name: string) => ({ tenant: '', column: 'mcp_server.declaration', owner: name, row: '' });

/** The encrypted columns, for re-encryption. */
export const MCP_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'mcp_server',
    key: ['name'],
    columns: [{ name: 'declaration', place: ({ name }: StoredRow) => placeOf(String(name)) }],
  },
];

/** Stores servers in the table `mcp_server`. */
@Injectable()
export class McpServerStore {
  private readonly servers: Table<StoredMcpServer>;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {
    this.servers = database.table(McpServerEntity);
  }

  /** As `Database.onceOpen`. */
  onceOpen(work: () => Promise<void>): Promise<void> {
    return this.database.onceOpen(work);
  }

  async list(): Promise<readonly AddedServer[]> {
    const rows = await this.servers.find({ order: { name: 'ASC' } });
    return rows.map(({ name, declaration, createdBy }) => ({
      name,
      declaration: JSON.parse(this.cipher.open(declaration, placeOf(name))) as unknown,
      createdBy,
    }));
  }

  /** @returns whether it was added; false if the name is taken */
  add({ name, declaration, createdBy }: AddedServer): Promise<boolean> {
    const sealed = this.cipher.seal(JSON.stringify(declaration), placeOf(name));
    return this.servers.insertIfAbsent({ name, declaration: sealed, createdBy, createdAt: Date.now() });
  }

  async remove(name: string): Promise<void> {
    await this.servers.delete({ name });
  }
}
