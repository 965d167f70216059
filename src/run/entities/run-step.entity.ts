import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A recorded step of a run; replay returns its result. */
@Entity('run_step', { withoutRowid: true })
export class RunStepEntity {
  @PrimaryColumn('varchar', { name: 'run_id', length: 64 })
  runId!: string;

  @PrimaryColumn('varchar', { length: 128 })
  name!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('varchar', { length: 32 })
  kind!: string;

  @Column('varchar', { length: 256 })
  subject!: string;

  /** JSON, byte-exact. */
  @Column('text')
  result!: string;

  @Column('integer')
  epoch!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
