import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** What is still to be done in the store of turns, when that is not the journal's database. */
@Entity('turn_change')
@Index('turn_change_by_session', ['tenant', 'sessionId', 'seq'])
@Index('turn_change_by_age', ['createdAt'])
export class TurnChangeEntity {
  /** Of a session's changes the one that was committed later has the greater one; 64 bits, as SQLite calls them. */
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
