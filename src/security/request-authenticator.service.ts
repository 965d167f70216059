import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type McpEndpointConfig, mcpServerConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import type { Principal, Role } from '../kernel/index.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import {
  ALL_SCOPES,
  Authenticator,
  type CredentialRequest,
  type PrincipalRequest,
  type Scope,
  SCOPES,
} from './authorization.js';
import { BrowserSessionService } from './browser/browser-session.service.js';
import { assertLocal } from './caller-origin.policy.js';
import type { ApiKeyStore } from './keys/api-key.store.js';
import { StoredKeyRegistry } from './keys/stored-key.registry.js';

/** Authenticates by API key: configured keys first, then the table. A principal exists as long as its key is valid. */
@Injectable()
export class ApiKeyAuthenticator extends Authenticator {
  constructor(
    private readonly configured: ApiKeyRegistry,
    private readonly stored: StoredKeyRegistry,
  ) {
    super();
  }

  async authenticate({ headers }: CredentialRequest): Promise<Principal | null> {
    const key = keyFrom(headers);
    if (key === undefined) return null;
    return this.configured.find(key) ?? this.stored.find(key);
  }

  async lookUp({ tenant, id }: Principal): Promise<Principal | null> {
    return this.configured.ownerOf(tenant, id) ?? this.stored.ownerOf(tenant, id);
  }
}

/** Cache time of "no key exists", in ms: delay until a first key created by another process is required here. */
const CACHE_MS = 3_000;

/**
 * Whether requests need a credential: if keys are configured, the application has its own authenticator, or a key was
 * ever created. A revoked or expired key does not reopen the server.
 */
export class KeyUseRegistry implements OnModuleInit {
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(
    private isNeeded: boolean,
    private readonly store: ApiKeyStore,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.areNeeded();
  }

  /** Last known state, without a query: for routes that must answer without the database. */
  get isOpen(): boolean {
    return !this.isNeeded;
  }

  async areNeeded(): Promise<boolean> {
    const age = performance.now() - this.readAt;
    if (this.isNeeded || age < CACHE_MS) return this.isNeeded;
    const isEmpty = await this.store.isEmpty();
    this.readAt = performance.now();
    if (!isEmpty) this.isNeeded = true;
    return this.isNeeded;
  }

  /** Records that this process created a key. */
  noteKey(): void {
    this.isNeeded = true;
  }
}

const ADMIN_ONLY: readonly Scope[] = ['sessions:trust', 'tools:write', 'webhooks', 'keys', 'erase', 'audit'];
/** Scopes of the server's operators, across tenants. */
const OPERATOR_ONLY: readonly Scope[] = ['operate'];
const OF_TENANTS = SCOPES.filter((scope) => !OPERATOR_ONLY.includes(scope));
const RIGHTS: Readonly<Record<Role, readonly Scope[]>> = {
  admin: OF_TENANTS,
  user: OF_TENANTS.filter((scope) => !ADMIN_ONLY.includes(scope)),
  viewer: OF_TENANTS.filter((scope) => scope.endsWith(':read')),
  operator: ['usage:read', ...OPERATOR_ONLY],
};
/** Keyed by any string, since an own authenticator may return unknown roles. */
const SCOPES_OF_ROLE = new Map<string, ReadonlySet<Scope>>(
  Object.entries(RIGHTS).map(([role, scopes]) => [role, new Set(scopes)]),
);

type Rights = Pick<Principal, 'roles' | 'scopes'>;

/** Whether a principal has a scope: one of its roles includes it, and its own scopes, if any, do not exclude it. */
export function hasScope({ roles, scopes }: Rights, scope: Scope): boolean {
  return roles.some((role) => SCOPES_OF_ROLE.get(role)?.has(scope)) && isWithin(scopes, scope);
}

/** All scopes of a principal. */
export function scopesOf(principal: Rights): readonly Scope[] {
  return SCOPES.filter((scope) => hasScope(principal, scope));
}

function isWithin(scopes: readonly string[] | undefined, scope: Scope): boolean {
  return scopes === undefined || scopes.includes(ALL_SCOPES) || scopes.includes(scope);
}

type Headers = PrincipalRequest['headers'];

/** The API key of a request: `Authorization: Bearer <key>`, else `X-API-Key`. */
export function keyFrom(headers: Headers): string | undefined {
  const { authorization } = headers;
  const bearer = typeof authorization === 'string' ? /^Bearer +(\S+) *$/i.exec(authorization)?.[1] : undefined;
  const header = headers['x-api-key'];
  return bearer ?? (typeof header === 'string' && header !== '' ? header : undefined);
}

/** A host authenticates its callers itself. */
export const NO_BROWSER_SESSIONS: Pick<BrowserSessionService, 'resolve'> = {
  resolve: (request) => Promise.resolve(request),
};

/** Authenticates each HTTP request once: before its body is read, or else in the guard of its route. */
@Injectable()
export class RequestAuthenticator {
  private readonly principals = new WeakMap<CredentialRequest, Promise<Principal>>();
  private readonly authenticated = new WeakMap<CredentialRequest, Principal>();

  /** @param sessions those of browsers; a host has none, as it authenticates its callers itself */
  constructor(
    private readonly authenticator: Authenticator,
    @Inject(BrowserSessionService) private readonly sessions: Pick<BrowserSessionService, 'resolve'>,
  ) {}

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
    const resolved = request.headers['cookie'] === undefined ? request : await this.sessions.resolve(request);
    const principal = await this.authenticator.authenticate(resolved);
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

/** The principal of every request to a server without keys, which serves its own machine only. */
export const LOCAL: Principal = Object.freeze({
  id: 'local',
  tenant: 'default',
  roles: Object.freeze(['admin', 'operator']),
});

/** The default authenticator: API keys if any exist, else callers from this machine only. */
@Injectable()
export class LocalAuthenticator extends Authenticator {
  constructor(
    private readonly use: KeyUseRegistry,
    private readonly keys: ApiKeyAuthenticator,
    @Inject(mcpServerConfig.KEY) private readonly config: McpEndpointConfig,
  ) {
    super();
  }

  async authenticate(request: CredentialRequest): Promise<Principal | null> {
    if (await this.use.areNeeded()) return this.keys.authenticate(request);
    assertLocal(request, this.config.allowedOrigins);
    return LOCAL;
  }

  /** Without keys there are no rights that could have been revoked. */
  async lookUp(principal: Principal): Promise<Principal | null> {
    return (await this.use.areNeeded()) ? this.keys.lookUp(principal) : principal;
  }
}
