import type { EntitySchemaOptions } from 'typeorm';

/** A server that was added over REST. */
export interface StoredMcpServer {
  readonly name: string;
  /** The declaration as JSON; encrypted if rows are, because headers contain secrets. */
  readonly declaration: string;
  /** Id of the principal who added it. */
  readonly createdBy: string;
  /** Epoch ms. */
  readonly createdAt: number;
}

export const McpServerEntity: EntitySchemaOptions<StoredMcpServer> = {
  name: 'mcp_server',
  withoutRowid: true,
  columns: {
    name: { type: 'varchar', length: 32, primary: true },
    declaration: { type: 'text' },
    createdBy: { type: 'varchar', name: 'created_by', length: 128 },
    createdAt: { type: 'bigint', name: 'created_at' },
  },
};
