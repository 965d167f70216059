import type { EntitySchemaOptions } from 'typeorm';

/** A fact that a user's agents remember across sessions; the tenant and the user are its owner. */
export interface StoredFact {
  readonly tenant: string;
  readonly userId: string;
  readonly id: string;
  /** SHA-256 of the idempotency key: repeated calls with the same key store one fact. */
  readonly keyDigest: string;
  /** SHA-256 of the text, so that an owner stores each text once. */
  readonly digest: string;
  readonly text: string;
  /** Terms of the text for the database's full-text index. */
  readonly terms: string;
  /** Base64 of 32-bit floats; the vector has the length 1. */
  readonly embedding: string | null;
  /** The model of the embedding; vectors of different models are not comparable. */
  readonly embeddingModel: string | null;
  /** Facts of the data in the run that remembered it, as JSON. */
  readonly dataFacts: string | null;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const FactEntity: EntitySchemaOptions<StoredFact> = {
  name: 'fact',
  columns: {
    tenant: { type: 'varchar', length: 128, primary: true },
    userId: { type: 'varchar', name: 'user_id', length: 128, primary: true },
    id: { type: 'varchar', length: 64, primary: true },
    keyDigest: { type: 'varchar', name: 'key_digest', length: 64 },
    digest: { type: 'varchar', length: 64 },
    text: { type: 'text' },
    terms: { type: 'text' },
    embedding: { type: 'text', nullable: true },
    embeddingModel: { type: 'varchar', name: 'embedding_model', length: 256, nullable: true },
    dataFacts: { type: 'text', name: 'data_facts', nullable: true },
    createdAt: { type: 'bigint', name: 'created_at' },
    updatedAt: { type: 'bigint', name: 'updated_at' },
  },
  indices: [
    { name: 'fact_by_key', columns: ['tenant', 'userId', 'keyDigest'], unique: true },
    { name: 'fact_by_digest', columns: ['tenant', 'userId', 'digest'], unique: true },
  ],
};
