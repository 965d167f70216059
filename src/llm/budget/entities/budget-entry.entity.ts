import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The amount that a model call has reserved or used. */
@Entity('budget_entry', { withoutRowid: true })
@Index('budget_entry_by_expiry', ['expiresAt'])
@Index('budget_entry_by_update', ['updatedAt'])
export class BudgetEntryEntity {
  /** `runId:step`. */
  @PrimaryColumn('varchar', { length: 200 })
  id!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('varchar', { length: 64 })
  holder!: string;

  @Column('bigint')
  tokens!: number;

  /** Billionths of the unit of `LLM_PRICES`. */
  @Column('bigint')
  cost!: number;

  /** JSON array: keys of the totals that include it. */
  @Column('text')
  scopes!: string;

  @Column('bigint', { name: 'expires_at', nullable: true })
  expiresAt!: number | null;

  @Column('bigint', { name: 'updated_at' })
  updatedAt!: number;
}
