import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A stored version of a business state. */
@Entity('tool_state_version', { withoutRowid: true })
export class ToolStateVersionEntity {
  @PrimaryColumn('varchar', { name: 'context_id', length: 64 })
  contextId!: string;

  @PrimaryColumn('integer')
  version!: number;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** As in `tool_state_entry`. */
  @Column('text')
  data!: string;

  /** Key of the call that wrote it. */
  @Column('varchar', { name: 'made_by', length: 255, nullable: true })
  madeBy!: string | null;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
