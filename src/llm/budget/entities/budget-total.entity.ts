import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The total of one budget. */
@Entity('budget_total', { withoutRowid: true })
export class BudgetTotalEntity {
  @PrimaryColumn('varchar', { length: 300 })
  scope!: string;

  /** Empty if all tenants share the budget. */
  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('bigint')
  tokens!: number;

  /** Billionths of the unit of `LLM_PRICES`. */
  @Column('bigint')
  cost!: number;

  @Column('bigint', { name: 'kept_until', nullable: true })
  keptUntil!: number | null;
}
