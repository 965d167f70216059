import type { Principal } from '../common/index.js';
import { PrincipalDirectory } from './principal-directory.js';
import type { CredentialRequest } from './principal-request.types.js';

/**
 * The port that says who asks. One's own, for JWT or OIDC, takes the place of the keys; it may inject
 * `ApiKeyAuthenticator` and ask that, too. Ids are unique in a tenant, whoever gives them: runs and sessions keep them.
 * Of a principal's roles `admin`, `user` and `viewer` count.
 */
export abstract class Authenticator extends PrincipalDirectory {
  /**
   * Who a request is from, or `null` when it bears nothing that is known: it is then answered with 401.
   * @throws AppError `UNAUTHENTICATED` to say why; any other error is answered as a fault of the server
   */
  abstract authenticate(request: CredentialRequest): Promise<Principal | null>;
}
