import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { RunStatus } from '../run.types.js';

/** One execution of an agent on one input. */
@Entity('run', { withoutRowid: true })
@Index('run_by_status', ['status', 'tenant', 'createdAt'])
@Index('run_session_slot', ['sessionSlot'], { unique: true })
@Index('run_by_tenant', ['tenant', 'createdAt', 'id'])
@Index('run_by_session', ['tenant', 'sessionId', 'createdAt'])
@Index('run_by_expiry', ['expiresAt'])
@Index('run_by_parent', ['parentRunId'])
export class RunEntity {
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** JSON of who asked. */
  @Column('text')
  principal!: string;

  @Column('varchar', { length: 32 })
  kind!: string;

  @Column('varchar', { length: 128 })
  agent!: string;

  @Column('varchar', { name: 'session_id', length: 128, nullable: true })
  sessionId!: string | null;

  /** The session that this run holds open; unique, so that a session has one open run. */
  @Column('varchar', { name: 'session_slot', length: 300, nullable: true })
  sessionSlot!: string | null;

  @Column('varchar', { length: 16 })
  status!: RunStatus;

  @Column('integer')
  epoch!: number;

  /** The process that runs it, or ran it last. */
  @Column('varchar', { length: 64, nullable: true })
  owner!: string | null;

  @Column('integer')
  attempts!: number;

  @Column('integer', { name: 'loop_version' })
  loopVersion!: number;

  @Column('varchar', { name: 'definition_hash', length: 64 })
  definitionHash!: string;

  @Column('text')
  input!: string;

  @Column('bigint', { name: 'timeout_ms' })
  timeoutMs!: number;

  @Column('bigint', { name: 'cancel_requested_at', nullable: true })
  cancelRequestedAt!: number | null;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('bigint', { name: 'finished_at', nullable: true })
  finishedAt!: number | null;

  /** When a run that waits is answered by time itself, epoch ms. */
  @Column('bigint', { name: 'expires_at', nullable: true })
  expiresAt!: number | null;

  /** After this time the run goes on no more, epoch ms. */
  @Column('bigint', { name: 'deadline_at', nullable: true })
  deadlineAt!: number | null;

  /** Of queued runs the higher goes first. */
  @Column('integer', { default: 0 })
  priority!: number;

  /** The run whose journal this one began with. */
  @Column('varchar', { name: 'forked_from', length: 64, nullable: true })
  forkedFrom!: string | null;

  /** The run whose call this one is. */
  @Column('varchar', { name: 'parent_run_id', length: 64, nullable: true })
  parentRunId!: string | null;

  /** That call's step in the parent. */
  @Column('varchar', { name: 'parent_step', length: 64, nullable: true })
  parentStep!: string | null;

  /** The run at the top of those whose calls they are. */
  @Column('varchar', { name: 'root_run_id', length: 64, nullable: true })
  rootRunId!: string | null;

  /** How many runs are above it. */
  @Column('integer', { default: 0 })
  depth!: number;

  /** When steps and events were removed, epoch ms; `summary` stays. */
  @Column('bigint', { name: 'pruned_at', nullable: true })
  prunedAt!: number | null;

  /** JSON of the run's end, kept when the rest is pruned. */
  @Column('text', { nullable: true })
  summary!: string | null;
}
