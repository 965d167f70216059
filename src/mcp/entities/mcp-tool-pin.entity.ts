import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The accepted definition of a server's tool, and the present one if it differs. */
@Entity('mcp_tool_pin', { withoutRowid: true })
export class McpToolPinEntity {
  @PrimaryColumn('varchar', { length: 32 })
  server!: string;

  /** The tool's name on the server. */
  @PrimaryColumn('varchar', { length: 128 })
  tool!: string;

  /** SHA-256, hex; `null` if the tool was never accepted. */
  @Column('varchar', { length: 64, nullable: true })
  digest!: string | null;

  /** JSON. */
  @Column('text', { nullable: true })
  definition!: string | null;

  @Column('varchar', { name: 'pending_digest', length: 64, nullable: true })
  pendingDigest!: string | null;

  @Column('text', { name: 'pending_definition', nullable: true })
  pendingDefinition!: string | null;

  /** JSON: findings of the scan in the pending definition. */
  @Column('text', { nullable: true })
  findings!: string | null;

  /** Id of the principal who accepted it; `null` if it was accepted at first sight. */
  @Column('varchar', { name: 'decided_by', length: 128, nullable: true })
  decidedBy!: string | null;

  /** Epoch ms. */
  @Column('bigint', { name: 'changed_at' })
  changedAt!: number;
}
