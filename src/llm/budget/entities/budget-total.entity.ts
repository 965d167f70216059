import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What counts in one budget. */
@Entity('budget_total', { withoutRowid: true })
export class BudgetTotalEntity {
  @PrimaryColumn('varchar', { length: 300 })
  scope!: string;

  /** Empty where it is everybody's. */
  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('bigint')
  tokens!: number;

  /** Billionths. */
  @Column('bigint')
  cost!: number;

  @Column('bigint', { name: 'kept_until', nullable: true })
  keptUntil!: number | null;
}
