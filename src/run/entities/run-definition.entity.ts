import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Definitions executed by runs, stored once per tenant and content hash. */
@Entity('run_definition', { withoutRowid: true })
export class RunDefinitionEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  /** SHA-256 in hex. */
  @PrimaryColumn('varchar', { length: 64 })
  hash!: string;

  /** JSON, byte-exact. */
  @Column('text')
  content!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
