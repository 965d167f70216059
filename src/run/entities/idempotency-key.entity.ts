import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A request that a client may send again: the key it chose, and the run that the first sending started. */
@Entity('idempotency_key', { withoutRowid: true })
@Index('idempotency_key_by_age', ['createdAt'])
export class IdempotencyKeyEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { name: 'idem_key', length: 255 })
  idemKey!: string;

  /** SHA-256 in hex: another request under the same key is a mistake. */
  @Column('varchar', { name: 'body_hash', length: 64 })
  bodyHash!: string;

  @Column('varchar', { name: 'run_id', length: 64 })
  runId!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
