import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A journaled event of a run. */
@Entity('run_event', { withoutRowid: true })
export class RunEventEntity {
  @PrimaryColumn('varchar', { name: 'run_id', length: 64 })
  runId!: string;

  /** Counted from 1 within the run. */
  @PrimaryColumn('integer')
  n!: number;

  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('varchar', { length: 32 })
  type!: string;

  /** JSON, byte-exact: the event in wire form. */
  @Column('text')
  data!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
