import type { EntitySchemaOptions } from 'typeorm';
import type { ApiKeyRecord, KeyScope } from '../api-key.types.js';

/** A key that was created over REST, with the SHA-256 of the key itself. */
export interface StoredApiKey extends ApiKeyRecord {
  readonly sha256: string;
}

export const ApiKeyEntity: EntitySchemaOptions<StoredApiKey> = {
  name: 'api_key',
  withoutRowid: true,
  columns: {
    id: { type: 'varchar', length: 64, primary: true },
    tenant: { type: 'varchar', length: 128 },
    // Never read.
    sha256: { type: 'varchar', length: 64, select: false },
    name: { type: 'varchar', length: 100 },
    role: { type: 'varchar', length: 16 },
    scopes: {
      type: 'text',
      transformer: {
        to: (scopes?: readonly KeyScope[]) => scopes && JSON.stringify(scopes),
        from: (text?: string) => text && (JSON.parse(text) as KeyScope[]),
      },
    },
    visibility: { type: 'varchar', length: 8, nullable: true },
    createdAt: { type: 'bigint', name: 'created_at' },
    createdBy: { type: 'varchar', name: 'created_by', length: 128 },
    expiresAt: { type: 'bigint', name: 'expires_at', nullable: true },
    revokedAt: { type: 'bigint', name: 'revoked_at', nullable: true },
    lastUsedAt: { type: 'bigint', name: 'last_used_at', nullable: true },
  },
  indices: [
    { name: 'api_key_by_tenant', columns: ['tenant', 'id'] },
    { name: 'api_key_by_sha256', columns: ['sha256'], unique: true },
  ],
};
