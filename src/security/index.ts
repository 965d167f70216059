/** Authentication, scopes, API keys, access log, encryption at rest, content filters, rate limits and guarded outgoing HTTP. */
import { CreateCallRate1764000000011 } from './rate-limit/migrations/1764000000011-create-call-rate.migration.js';
import { ApiKeyEntity } from './keys/entities/api-key.entity.js';
import { CreateApiKey1764000000004 } from './keys/migrations/1764000000004-create-api-key.migration.js';
import { AddKeyVisibility1764000000018 } from './keys/migrations/1764000000018-add-key-visibility.migration.js';
import { CreateAccessLog1764000000008 } from './migrations/1764000000008-create-access-log.migration.js';
import { CreateSigningKey1764000000020 } from './migrations/1764000000020-create-signing-key.migration.js';
import { SigningKeyEntity } from './encryption/entities/signing-key.entity.js';

export { AccessLogModule } from './access-log/access-log.module.js';
export { AccessLogService } from './access-log/access-log.service.js';
export { ACCESS_TARGETS } from './access-log/access-log.types.js';
export type { AccessAction, AccessEntry, AccessFilter, AccessTarget } from './access-log/access-log.types.js';
export { AccessGuard, CurrentPrincipal } from './access.guard.js';
export {
  hasScope,
  keyFrom,
  KeyUseRegistry,
  NO_BROWSER_SESSIONS,
  RequestAuthenticator,
  scopesOf,
  ApiKeyAuthenticator,
} from './request-authenticator.service.js';
export {
  Authenticator,
  type CredentialRequest,
  accessOf,
  Requires,
  type RouteAccess,
  Public,
  PrincipalDirectory,
  ALL_SCOPES,
  SCOPES,
  type Scope,
} from './authorization.js';
export {
  admit,
  type Admitted,
  classRule,
  ContentFilter,
  type ContentRule,
  type Filtered,
} from './content/content.filter.js';
export { CONTENT_ACTIONS, CONTENT_CLASSES, CONTENT_PLACES } from './content/content.types.js';
export type {
  ContentAction,
  ContentClass,
  ContentPlace,
  ContentRules,
  Finder,
  OwnPattern,
} from './content/content.types.js';
export { FilteredStream } from './content/filtered-stream.builder.js';
export { findLinks } from './content/link.parser.js';
export { createFinders } from './content/own-pattern.factory.js';
export { openRateLimiter } from './rate-limit/rate-limiter.factory.js';
export { RateLimiter, type RateLimit } from './rate-limit/rate-limiter.js';
export { ApiKeyService } from './keys/api-key.service.js';
export type { ApiKeyPage, ApiKeyRecord, KeyScope, NewApiKey } from './keys/api-key.types.js';
export { assertLocal, assertSameSite } from './caller-origin.policy.js';
export { isViewer, Ownership, OwnershipModule, visibilityOf } from './ownership.js';
export type { RowFilter } from './ownership.js';
export { PrincipalModule } from './principal.module.js';
export { BrowserSessionService, isCookieCredential } from './browser/browser-session.service.js';
export { Cipher } from './encryption/cipher.js';
export type { RowPlace } from './encryption/cipher.js';
export { EncryptionModule } from './encryption/encryption.module.js';
export { PLAIN_CIPHER } from './encryption/cipher.factory.js';
export { openColumn } from './encryption/sealed-row.store.js';
export { SIGNING_SEALED_TABLES, SigningKeyStore } from './encryption/signing-key.store.js';
export { SealedTableRegistry } from './encryption/sealed-table.registry.js';
export type { SealedColumn, SealedTable, StoredRow } from './encryption/sealed-table.types.js';
export { IntakePace, OutgoingFetch } from './egress/outgoing-fetch.factory.js';
export { OutgoingClient } from './egress/outgoing.client.js';
export { SecretRedaction } from './egress/secret-redaction.js';
export { MAX_VALUES, ValueCounter } from './egress/value-count.parser.js';
export { OutgoingModule } from './egress/outgoing.module.js';
export type { OutgoingOptions } from './egress/outgoing.client.js';
export type { OutgoingCookies, OutgoingLimits, OutgoingReply, OutgoingRequest } from './egress/outgoing.types.js';
export { SecurityModule } from './security.module.js';

export const SECURITY_ENTITIES = [ApiKeyEntity, SigningKeyEntity];
export const SECURITY_MIGRATIONS = [
  CreateApiKey1764000000004,
  CreateAccessLog1764000000008,
  CreateCallRate1764000000011,
  AddKeyVisibility1764000000018,
  CreateSigningKey1764000000020,
];
export type { ContentActions } from './content/content.types.js';
