import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A context: the states of one tool in one session. */
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

  /** For a run without a session: `run:` and the run id. */
  @Column('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  @Column('varchar', { length: 128 })
  tool!: string;

  /** Increases by 1 with each write; 0 only inside the batch that deletes it. */
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

  /** Number of the last history entry. */
  @Column('integer', { name: 'last_history' })
  lastHistory!: number;

  /** Number of the last applied outbox change. */
  @Column('varchar', { name: 'last_change', length: 255, nullable: true })
  lastChange!: string | null;
}
