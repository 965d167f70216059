import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The definition of a server's tool in use, and the listed one if it differs. */
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

  /** Why the pending definition waits; `null` in rows of older versions. */
  @Column('varchar', { length: 16, nullable: true })
  reason!: string | null;

  /** JSON: the annotations that take effect, if they differ from those of the definition in use. */
  @Column('text', { nullable: true })
  hints!: string | null;

  /** The server's version that last listed the definition in use. */
  @Column('varchar', { length: 128, nullable: true })
  version!: string | null;

  /** Id of the principal who accepted it; `null` if it was accepted at first sight. */
  @Column('varchar', { name: 'decided_by', length: 128, nullable: true })
  decidedBy!: string | null;

  /** Epoch ms. */
  @Column('bigint', { name: 'changed_at' })
  changedAt!: number;
}
