import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A conversation. */
@Entity('session', { withoutRowid: true })
@Index('session_by_age', ['tenant', 'createdAt', 'id'])
@Index('session_by_owner', ['tenant', 'owner', 'createdAt', 'id'])
@Index('session_by_parent', ['tenant', 'parentId'])
export class SessionEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { length: 128 })
  id!: string;

  @Column('varchar', { length: 128 })
  owner!: string;

  @Column('integer', { name: 'last_turn' })
  lastTurn!: number;

  /** The last turn that was cleared; 0 without one. */
  @Column('integer', { name: 'cleared_turn', default: 0 })
  clearedTurn!: number;

  @Column('integer', { name: 'message_count' })
  messageCount!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('bigint', { name: 'updated_at' })
  updatedAt!: number;

  /** The parent session, whose agent talks with another agent in this one. */
  @Column('varchar', { name: 'parent_id', length: 128, nullable: true })
  parentId!: string | null;

  /** JSON of the clients' metadata. */
  @Column('text', { nullable: true })
  metadata!: string | null;

  /** The first turn with untrusted content. */
  @Column('integer', { name: 'tainted_turn', nullable: true })
  taintedTurn!: number | null;

  /** The first turn with private data. */
  @Column('integer', { name: 'private_turn', nullable: true })
  privateTurn!: number | null;

  /** Sources of both, as JSON. */
  @Column('text', { name: 'data_facts', nullable: true })
  dataFacts!: string | null;
}
