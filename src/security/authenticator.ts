import type { Principal } from '../kernel/index.js';
import { PrincipalDirectory } from './principal-directory.js';
import type { CredentialRequest } from './requires.decorator.js';

/**
 * The port that identifies the caller of a request. An application's own implementation (JWT, OIDC) replaces API keys;
 * it may inject `ApiKeyAuthenticator` and delegate to it. Principal ids must be unique in a tenant, since runs and
 * sessions store them. Known roles: `admin`, `user`, `viewer`, `operator`; others grant nothing.
 */
export abstract class Authenticator extends PrincipalDirectory {
  /**
   * The caller's principal, or `null` without a known credential (status 401).
   * @throws AppError `UNAUTHENTICATED` with a reason; any other error becomes status 500
   */
  abstract authenticate(request: CredentialRequest): Promise<Principal | null>;
}
