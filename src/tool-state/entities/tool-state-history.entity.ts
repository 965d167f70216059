import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One event in the history of a context. */
@Entity('tool_state_history', { withoutRowid: true })
export class ToolStateHistoryEntity {
  @PrimaryColumn('varchar', { name: 'context_id', length: 64 })
  contextId!: string;

  @PrimaryColumn('integer')
  n!: number;

  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('varchar', { length: 32 })
  kind!: string;

  /** JSON of the details, stored as in `tool_state_entry`. */
  @Column('text')
  data!: string;

  /** Key of the call that caused it. */
  @Column('varchar', { name: 'made_by', length: 255, nullable: true })
  madeBy!: string | null;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
