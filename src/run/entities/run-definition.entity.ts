import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What runs execute, stored once a tenant by its content's hash. */
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
