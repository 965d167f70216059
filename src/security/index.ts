/** Authentication, scopes, API keys, access log, encryption at rest, content filters, rate limits and guarded outgoing HTTP. */
import { CreateCallRate1764000000011 } from './rate-limit/migrations/1764000000011-create-call-rate.migration.js';
import { ApiKeyEntity } from './keys/entities/api-key.entity.js';
import { CreateApiKey1764000000004 } from './keys/migrations/1764000000004-create-api-key.migration.js';
import { AddKeyVisibility1764000000018 } from './keys/migrations/1764000000018-add-key-visibility.migration.js';
import { CreateAccessLog1764000000008 } from './migrations/1764000000008-create-access-log.migration.js';
import { CreateSigningKey1764000000020 } from './migrations/1764000000020-create-signing-key.migration.js';
import { SigningKeyEntity } from './encryption/entities/signing-key.entity.js';

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
export { openRateLimiter } from './rate-limit/rate-limiter.factory.js';
export { RateLimiter, type RateLimit } from './rate-limit/rate-limiter.js';
export { assertLocal, assertSameSite } from './caller-origin.policy.js';
export { isViewer, Ownership, OwnershipModule, visibilityOf } from './ownership.js';
export type { RowFilter } from './ownership.js';
export { PrincipalModule } from './principal.module.js';
export { BrowserSessionService, isCookieCredential } from './browser/browser-session.service.js';
export { SecurityModule } from './security.module.js';

export const SECURITY_ENTITIES = [ApiKeyEntity, SigningKeyEntity];
export const SECURITY_MIGRATIONS = [
  CreateApiKey1764000000004,
  CreateAccessLog1764000000008,
  CreateCallRate1764000000011,
  AddKeyVisibility1764000000018,
  CreateSigningKey1764000000020,
];
