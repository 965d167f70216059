import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tool that is off for a tenant; without a row it is on. */
@Entity('disabled_tool', { withoutRowid: true })
export class DisabledToolEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { length: 64 })
  name!: string;

  /** The id of who switched it off. */
  @Column('varchar', { name: 'disabled_by', length: 128 })
  disabledBy!: string;

  /** Epoch ms. */
  @Column('bigint', { name: 'disabled_at' })
  disabledAt!: number;
}
