import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { RunStatus } from '../run.types.js';

/** One execution of an agent on one input. */
@Entity('run', { withoutRowid: true })
@Index('run_by_status', ['status', 'tenant', 'createdAt'])
@Index('run_session_slot', ['sessionSlot'], { unique: true })
@Index('run_by_tenant', ['tenant', 'createdAt', 'id'])
@Index('run_by_principal', ['tenant', 'principalId', 'createdAt', 'id'])
@Index('run_by_session', ['tenant', 'sessionId', 'createdAt'])
@Index('run_by_expiry', ['expiresAt'])
@Index('run_by_parent', ['parentRunId'])
export class RunEntity {
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** JSON of the principal. */
  @Column('text')
  principal!: string;

  /** The principal's id, in clear, as queries use it; `null` if version 0.1 wrote an encrypted principal. */
  @Column('varchar', { name: 'principal_id', length: 128, nullable: true })
  principalId!: string | null;

  @Column('varchar', { length: 32 })
  kind!: string;

  @Column('varchar', { length: 128 })
  agent!: string;

  @Column('varchar', { name: 'session_id', length: 128, nullable: true })
  sessionId!: string | null;

  /** The session that this run holds; unique, so that a session has one open run. */
  @Column('varchar', { name: 'session_slot', length: 300, nullable: true })
  sessionSlot!: string | null;

  @Column('varchar', { length: 16 })
  status!: RunStatus;

  @Column('integer')
  epoch!: number;

  /** The process that executes or last executed it. */
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

  /** When a waiting run expires, epoch ms. */
  @Column('bigint', { name: 'expires_at', nullable: true })
  expiresAt!: number | null;

  /** The run must end by this time, epoch ms. */
  @Column('bigint', { name: 'deadline_at', nullable: true })
  deadlineAt!: number | null;

  /** Of queued runs the higher starts first. */
  @Column('integer', { default: 0 })
  priority!: number;

  /** The source run of a fork. */
  @Column('varchar', { name: 'forked_from', length: 64, nullable: true })
  forkedFrom!: string | null;

  /** The calling run. */
  @Column('varchar', { name: 'parent_run_id', length: 64, nullable: true })
  parentRunId!: string | null;

  /** The call's step in the parent. */
  @Column('varchar', { name: 'parent_step', length: 64, nullable: true })
  parentStep!: string | null;

  /** The root of its run tree. */
  @Column('varchar', { name: 'root_run_id', length: 64, nullable: true })
  rootRunId!: string | null;

  /** Number of runs above it in the tree. */
  @Column('integer', { default: 0 })
  depth!: number;

  /** When steps and events were deleted, epoch ms; `summary` remains. */
  @Column('bigint', { name: 'pruned_at', nullable: true })
  prunedAt!: number | null;

  /** JSON of the run's end; remains when the rest is pruned. */
  @Column('text', { nullable: true })
  summary!: string | null;
}
