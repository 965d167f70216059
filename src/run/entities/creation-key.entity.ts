import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A repeatable request that creates something other than a run: the client's key, and the id of the created thing. */
@Entity('creation_key', { withoutRowid: true })
@Index('creation_key_by_age', ['createdAt'])
export class CreationKeyEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  /** SHA-256 (hex) of the principal and the key. */
  @PrimaryColumn('varchar', { name: 'idem_key', length: 64 })
  idemKey!: string;

  /** SHA-256 (hex); another request with the same key is an error. */
  @Column('varchar', { name: 'body_hash', length: 64 })
  bodyHash!: string;

  /** Reserved before the creation, so that an interrupted request is completed by its repetition. */
  @Column('varchar', { name: 'created_id', length: 64 })
  createdId!: string;

  /** 1 once the thing was created. */
  @Column('int', { name: 'is_created' })
  isCreated!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
