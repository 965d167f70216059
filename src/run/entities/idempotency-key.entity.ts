import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A repeatable request: the key chosen by the client, and the run that the first request started. */
@Entity('idempotency_key', { withoutRowid: true })
@Index('idempotency_key_by_age', ['createdAt'])
export class IdempotencyKeyEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { name: 'idem_key', length: 255 })
  idemKey!: string;

  /** SHA-256 in hex; another request with the same key is an error. */
  @Column('varchar', { name: 'body_hash', length: 64 })
  bodyHash!: string;

  @Column('varchar', { name: 'run_id', length: 64 })
  runId!: string;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
