import { ALL_SCOPES, visibilityOf, type ApiKeyPage, type ApiKeyRecord, type NewApiKey } from '../security/index.js';
import { toEpochMs } from './is-time.decorator.js';
import { toCursor } from './list-cursor.js';
import type { KeyDto, KeyPageDto, KeyRequestDto, NewKeyDto } from './key.dto.js';

/** @param body validated */
export function toNewKey({ name, role, scopes = [ALL_SCOPES], visibility, expiresAt }: KeyRequestDto): NewApiKey {
  return {
    name,
    role,
    scopes,
    visibility: visibility ?? null,
    expiresAt: expiresAt === undefined ? null : toEpochMs(expiresAt),
  };
}

export function toKeyView(key: ApiKeyRecord): KeyDto {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    scopes: [...key.scopes],
    visibility: visibilityOf({ roles: [key.role], ...(key.visibility && { visibility: key.visibility }) }),
    created_at: key.createdAt,
    created_by: key.createdBy,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
  };
}

export function toNewKeyView(record: ApiKeyRecord, key: string): NewKeyDto {
  return Object.assign(toKeyView(record), { key });
}

export function toKeyPage({ keys, next }: ApiKeyPage): KeyPageDto {
  return { keys: keys.map(toKeyView), next: toCursor('keys', next) };
}
