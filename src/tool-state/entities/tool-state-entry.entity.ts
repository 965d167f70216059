import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One state of a context. */
@Entity('tool_state_entry', { withoutRowid: true })
export class ToolStateEntryEntity {
  @PrimaryColumn('varchar', { name: 'context_id', length: 64 })
  contextId!: string;

  /** One of `STATE_TYPES`. */
  @PrimaryColumn('varchar', { length: 16 })
  type!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** JSON; compressed if configured, then encrypted. */
  @Column('text')
  data!: string;

  @Column('integer')
  version!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('bigint', { name: 'updated_at' })
  updatedAt!: number;

  @Column('bigint', { name: 'expires_at', nullable: true })
  expiresAt!: number | null;
}
