import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { hasScope } from './access.policy.js';
import { keyFrom } from './api-key.parser.js';
import { Authenticator } from './authenticator.js';
import type { CredentialRequest } from './principal-request.types.js';
import type { Scope } from './scope.types.js';

/** Authenticates each HTTP request once: before its body is read, or else in the guard of its route. */
@Injectable()
export class RequestAuthenticator {
  private readonly principals = new WeakMap<CredentialRequest, Promise<Principal>>();
  private readonly authenticated = new WeakMap<CredentialRequest, Principal>();

  constructor(private readonly authenticator: Authenticator) {}

  /**
   * @param scopes of which the principal needs one
   * @throws AppError `UNAUTHENTICATED`, `FORBIDDEN`
   */
  async admit(request: CredentialRequest, scopes?: readonly Scope[]): Promise<Principal> {
    let found = this.principals.get(request);
    if (!found) this.principals.set(request, (found = this.authenticate(request)));
    const principal = await found;
    this.authenticated.set(request, principal);
    if (scopes) checkScope(principal, scopes);
    return principal;
  }

  /** The principal of a request that is authenticated, whether its scope suffices or not. */
  found(request: CredentialRequest): Principal | undefined {
    return this.authenticated.get(request);
  }

  /** Whether a request to a public route has a valid credential; false if its check fails. */
  isKnown(request: CredentialRequest): Promise<boolean> {
    return this.admit(request).then(
      () => true,
      () => false,
    );
  }

  private async authenticate(request: CredentialRequest): Promise<Principal> {
    const principal = await this.authenticator.authenticate(request);
    if (!principal) throw unauthenticated(request);
    return principal;
  }
}

function unauthenticated({ headers }: CredentialRequest): AppError {
  return new AppError(
    'UNAUTHENTICATED',
    keyFrom(headers) === undefined
      ? 'No API key: send it as `Authorization: Bearer <key>` or `X-API-Key: <key>`.'
      : 'This API key is unknown: check it, or ask an admin for a new one.',
  );
}

function checkScope(principal: Principal, scopes: readonly Scope[]): void {
  if (scopes.length === 0) {
    throw new AppError('FORBIDDEN', 'Route has no required scope; access denied.');
  }
  if (scopes.some((scope) => hasScope(principal, scope))) return;
  throw new AppError('FORBIDDEN', `This request needs ${named(scopes)}, and ${whyNot(principal, scopes)}.`, {
    details: scopes.length === 1 ? { scope: scopes[0] } : { scopes },
  });
}

function named(scopes: readonly Scope[]): string {
  const quoted = scopes.map((scope) => `"${scope}"`).join(', ');
  return scopes.length === 1 ? `the scope ${quoted}` : `one of the scopes ${quoted}`;
}

function whyNot({ roles }: Principal, scopes: readonly Scope[]): string {
  if (scopes.some((scope) => hasScope({ roles }, scope))) return 'the key is restricted to other scopes';
  const it = scopes.length === 1 ? 'it' : 'one';
  if (roles.length === 0) return `the principal has no role with ${it}`;
  return roles.length === 1
    ? `the role ${roles[0]} does not have ${it}`
    : `the roles ${roles.join(', ')} do not have ${it}`;
}
