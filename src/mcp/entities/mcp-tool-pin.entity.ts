import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A server's tool as it was accepted, and as it is now, where that is something else. */
@Entity('mcp_tool_pin', { withoutRowid: true })
export class McpToolPinEntity {
  @PrimaryColumn('varchar', { length: 32 })
  server!: string;

  /** The server's own name of it. */
  @PrimaryColumn('varchar', { length: 128 })
  tool!: string;

  /** SHA-256, hex; of one that was never accepted `null`. */
  @Column('varchar', { length: 64, nullable: true })
  digest!: string | null;

  /** JSON. */
  @Column('text', { nullable: true })
  definition!: string | null;

  @Column('varchar', { name: 'pending_digest', length: 64, nullable: true })
  pendingDigest!: string | null;

  @Column('text', { name: 'pending_definition', nullable: true })
  pendingDefinition!: string | null;

  /** JSON: what the scan found in the pending one. */
  @Column('text', { nullable: true })
  findings!: string | null;

  /** The id of who accepted it; `null` for who was there first. */
  @Column('varchar', { name: 'decided_by', length: 128, nullable: true })
  decidedBy!: string | null;

  /** Epoch ms. */
  @Column('bigint', { name: 'changed_at' })
  changedAt!: number;
}
