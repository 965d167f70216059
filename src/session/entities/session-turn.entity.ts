import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { TurnStatus } from '../session.types.js';

/** One complete turn of a session. */
@Entity('session_turn', { withoutRowid: true })
@Index('session_turn_marked', ['tenant', 'sessionId', 'mark'])
@Index('session_turn_by_run', ['runId', 'sessionId', 'tenant'], { unique: true })
export class SessionTurnEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  @PrimaryColumn('integer')
  turn!: number;

  @Column('varchar', { name: 'run_id', length: 64 })
  runId!: string;

  @Column('varchar', { length: 16 })
  status!: TurnStatus;

  /** JSON, byte-exact: the turn's messages in order. */
  @Column('text')
  messages!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('integer', { name: 'message_count', default: 0 })
  messageCount!: number;

  /** Tokens of all its messages; 0 if they were not counted. */
  @Column('integer', { default: 0 })
  tokens!: number;

  /** Tokens without tool calls and their results. */
  @Column('integer', { name: 'plain_tokens', default: 0 })
  plainTokens!: number;

  /** The turn that last referred to it, or `PINNED`; it may then stay visible longer than its position allows. */
  @Column('integer', { nullable: true })
  mark!: number | null;
}
