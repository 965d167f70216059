import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A fact that a user's agents remember across sessions; the tenant and the user are its owner. */
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

  /** SHA-256 of the idempotency key: repeated calls with the same key store one fact. */
  @Column('varchar', { name: 'key_digest', length: 64 })
  keyDigest!: string;

  /** SHA-256 of the text, so that an owner stores each text once. */
  @Column('varchar', { length: 64 })
  digest!: string;

  @Column('text')
  text!: string;

  /** Terms of the text for the database's full-text index. */
  @Column('text')
  terms!: string;

  /** Base64 of 32-bit floats; the vector has the length 1. */
  @Column('text', { nullable: true })
  embedding!: string | null;

  /** The model of the embedding; vectors of different models are not comparable. */
  @Column('varchar', { name: 'embedding_model', length: 256, nullable: true })
  embeddingModel!: string | null;

  /** Facts of the data in the run that remembered it, as JSON. */
  @Column('text', { name: 'data_facts', nullable: true })
  dataFacts!: string | null;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('bigint', { name: 'updated_at' })
  updatedAt!: number;
}
