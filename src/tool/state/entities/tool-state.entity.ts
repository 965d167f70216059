import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A context: what one tool keeps in one session. */
@Entity('tool_state', { withoutRowid: true })
@Index('tool_state_by_tenant', ['tenant', 'id'])
@Index('tool_state_by_session', ['tenant', 'sessionId', 'id'])
@Index('tool_state_by_tool', ['tenant', 'tool', 'id'])
@Index('tool_state_by_expiry', ['expiresAt'])
export class ToolStateEntity {
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** Of one that goes with a run without a session, `run:` and the run's id. */
  @Column('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  @Column('varchar', { length: 128 })
  tool!: string;

  /** One more with every write; 0 only within the batch that removes it. */
  @Column('integer')
  revision!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('bigint', { name: 'used_at' })
  usedAt!: number;

  @Column('bigint', { name: 'expires_at', nullable: true })
  expiresAt!: number | null;

  /** 0 or 1. */
  @Column('integer', { name: 'is_of_run' })
  isOfRun!: number;

  /** The number of the last entry of its history. */
  @Column('integer', { name: 'last_history' })
  lastHistory!: number;

  /** The last change that was carried over from the journal. */
  @Column('varchar', { name: 'last_change', length: 255, nullable: true })
  lastChange!: string | null;
}
