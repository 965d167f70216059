import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { RunStatus } from '../run.types.js';

/** One execution of an agent on one input. */
@Entity('run', { withoutRowid: true })
@Index('run_by_status', ['status', 'createdAt'])
@Index('run_session_slot', ['sessionSlot'], { unique: true })
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
}
