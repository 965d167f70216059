import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Something that a user's agents keep in mind beyond a session; its owner is the tenant and the user. */
@Entity('fact')
@Index('fact_by_key', ['tenant', 'userId', 'keyDigest'], { unique: true })
@Index('fact_by_digest', ['tenant', 'userId', 'digest'], { unique: true })
export class FactEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { name: 'user_id', length: 128 })
  userId!: string;

  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  /** SHA-256 of the idempotency key: who remembers twice with the same one has remembered once. */
  @Column('varchar', { name: 'key_digest', length: 64 })
  keyDigest!: string;

  /** SHA-256 of the text, so that an owner has no text twice. */
  @Column('varchar', { length: 64 })
  digest!: string;

  @Column('text')
  text!: string;

  /** What the database's full-text index holds of the text. */
  @Column('text')
  terms!: string;

  /** Base64 of 32-bit floats, of length 1. */
  @Column('text', { nullable: true })
  embedding!: string | null;

  /** The model that the embedding is of; vectors of two models cannot be compared. */
  @Column('varchar', { name: 'embedding_model', length: 256, nullable: true })
  embeddingModel!: string | null;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('bigint', { name: 'updated_at' })
  updatedAt!: number;
}
