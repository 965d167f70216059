import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many calls a window has seen. */
@Entity('call_rate', { withoutRowid: true })
export class CallRateEntity {
  /** The name that is counted, as a hash. */
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('integer')
  calls!: number;

  @Column('bigint', { name: 'resets_at' })
  resetsAt!: number;
}
