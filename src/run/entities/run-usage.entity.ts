import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The usage of one model call, written with its `usage` event; it outlives the run's journal. */
@Entity('run_usage', { withoutRowid: true })
@Index('run_usage_by_tenant', ['tenant', 'day'])
@Index('run_usage_by_principal', ['tenant', 'principalId', 'day'])
@Index('run_usage_by_session', ['tenant', 'sessionId'])
@Index('run_usage_by_day', ['day'])
export class RunUsageEntity {
  @PrimaryColumn('varchar', { name: 'run_id', length: 64 })
  runId!: string;

  /** The event's number. */
  @PrimaryColumn('integer')
  n!: number;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** Empty for a run without session, and after an erasure. */
  @Column('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  /** The id of the run's principal; `null` if unknown, and after an erasure. */
  @Column('varchar', { name: 'principal_id', length: 128, nullable: true })
  principalId!: string | null;

  /** UTC: `2027-01-31`. */
  @Column('varchar', { length: 10 })
  day!: string;

  /** The provider's name of the model. */
  @Column('varchar', { length: 200 })
  model!: string;

  @Column('bigint', { name: 'prompt_tokens' })
  promptTokens!: number;

  @Column('bigint', { name: 'completion_tokens' })
  completionTokens!: number;

  @Column('bigint', { name: 'total_tokens' })
  totalTokens!: number;

  @Column('bigint', { name: 'cached_tokens', nullable: true })
  cachedTokens!: number | null;

  @Column('bigint', { name: 'reasoning_tokens', nullable: true })
  reasoningTokens!: number | null;

  /** Billionths; `null` when the model has no price. */
  @Column('bigint', { nullable: true })
  cost!: number | null;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
