import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Outbox entry: a change not yet applied to a store outside of the journal's database. */
@Entity('tool_state_change', { withoutRowid: true })
@Index('tool_state_change_by_context', ['contextId', 'createdAt'])
@Index('tool_state_change_by_age', ['createdAt'])
export class ToolStateChangeEntity {
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('varchar', { name: 'context_id', length: 64 })
  contextId!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** Encrypted JSON. */
  @Column('text')
  data!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
