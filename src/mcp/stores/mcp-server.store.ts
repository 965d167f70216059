import { Injectable } from '@nestjs/common';
import { Database, insert, refusalOf } from '../../persistence/index.js';
import { Cipher, type SealedTable, type StoredRow } from '../../security/index.js';

/** A server added over REST. */
export interface AddedServer {
  readonly name: string;
  readonly declaration: unknown;
  readonly createdBy: string;
}

interface ServerRow {
  readonly name: string;
  readonly declaration: string;
  readonly created_by: string;
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
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  async list(): Promise<readonly AddedServer[]> {
    const rows = await this.database.query<ServerRow>(
      'SELECT name, declaration, created_by FROM mcp_server ORDER BY name',
    );
    return rows.map(({ name, declaration, created_by }) => ({
      name,
      declaration: JSON.parse(this.cipher.open(declaration, placeOf(name))) as unknown,
      createdBy: created_by,
    }));
  }

  /** @returns whether it was added; false if the name is taken */
  async add({ name, declaration, createdBy }: AddedServer): Promise<boolean> {
    const row = {
      name,
      declaration: this.cipher.seal(JSON.stringify(declaration), placeOf(name)),
      created_by: createdBy,
      created_at: Date.now(),
    };
    try {
      await this.database.commit([insert('mcp_server', row)]);
      return true;
    } catch (error) {
      if (refusalOf(error) === 'unique') return false;
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.database.commit([{ sql: 'DELETE FROM mcp_server WHERE name = ?', params: [name] }]);
  }
}
