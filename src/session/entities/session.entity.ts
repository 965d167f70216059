import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A conversation. */
@Entity('session', { withoutRowid: true })
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
}
