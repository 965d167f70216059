import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** A pending change of a turn store other than the journal's database. */
@Entity('turn_change')
@Index('turn_change_by_session', ['tenant', 'sessionId', 'seq'])
@Index('turn_change_by_age', ['createdAt'])
export class TurnChangeEntity {
  /** In commit order within a session; SQLite's `integer` has 64 bits. */
  @PrimaryGeneratedColumn('increment', { type: 'integer' })
  seq!: number;

  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  /** JSON. */
  @Column('text', { name: 'change_data' })
  changeData!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
