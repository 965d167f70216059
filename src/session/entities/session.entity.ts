import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A conversation. */
@Entity('session', { withoutRowid: true })
@Index('session_by_age', ['tenant', 'createdAt', 'id'])
export class SessionEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { length: 128 })
  id!: string;

  @Column('varchar', { length: 128 })
  owner!: string;

  @Column('integer', { name: 'last_turn' })
  lastTurn!: number;

  @Column('integer', { name: 'message_count' })
  messageCount!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('bigint', { name: 'updated_at' })
  updatedAt!: number;

  /** JSON of what the users keep with it. */
  @Column('text', { nullable: true })
  metadata!: string | null;
}
