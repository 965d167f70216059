import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What is still to be done in the store of turns, when that is not the journal's database. */
@Entity('session_change', { withoutRowid: true })
@Index('session_change_by_age', ['createdAt'])
export class SessionChangeEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  /** Of changes of the same millisecond, the later one's is greater. */
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  /** JSON. */
  @Column('text', { name: 'change_data' })
  changeData!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
