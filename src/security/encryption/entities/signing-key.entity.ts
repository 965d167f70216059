import type { EntitySchemaOptions } from 'typeorm';

/** A random key with which this installation signs; all nodes share it. */
export interface SigningKey {
  readonly name: string;
  /** JSON: the key in base64url. */
  readonly secret: string;
}

export const SigningKeyEntity: EntitySchemaOptions<SigningKey> = {
  name: 'signing_key',
  withoutRowid: true,
  columns: { name: { type: 'varchar', length: 64, primary: true }, secret: { type: 'text' } },
};
