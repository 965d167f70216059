import { SetMetadata } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';

/** All scopes. Every route names at least one; a route without one is denied. */
export const SCOPES = [
  'chat',
  'runs:read',
  'runs:write',
  'sessions:read',
  'sessions:write',
  'sessions:trust',
  'tools:read',
  'tools:call',
  'tools:write',
  'usage:read',
  'webhooks',
  'keys',
  'erase',
  'audit',
  'operate',
] as const;

export type Scope = (typeof SCOPES)[number];

/** All scopes of the key's role. */
export const ALL_SCOPES = '*';

/** The port that returns a principal's current rights; used when a run resumes. */
export abstract class PrincipalDirectory {
  /** The principal with its current rights, or `null` if all were revoked. */
  abstract lookUp(principal: Principal): Promise<Principal | null>;
}

export const IS_PUBLIC = 'jackdaw:public';

/** Marks a route, or all routes of a controller, that needs no credential (such as health). */
export const Public = () => SetMetadata(IS_PUBLIC, true);

export const REQUIRED_SCOPE = 'jackdaw:scope';

/**
 * The scope that a route, or all routes of a controller, require. With several scopes any one passes the guard, and the
 * handler checks the operation itself. A route without this decorator is denied unless it is public.
 */
export const Requires = (...scopes: readonly [Scope, ...Scope[]]) => SetMetadata(REQUIRED_SCOPE, scopes);

/** The callers of a route: all, or those with one of the scopes. */
export interface RouteAccess {
  readonly isPublic: boolean;
  readonly scopes: readonly Scope[];
}

/** @param sources the handler and its controller; the handler's decorators apply first */
export function accessOf(sources: readonly object[]): RouteAccess {
  const first = (key: string): unknown =>
    sources.map((source) => Reflect.getMetadata(key, source) as unknown).find((value) => value !== undefined);
  return { isPublic: first(IS_PUBLIC) === true, scopes: (first(REQUIRED_SCOPE) as readonly Scope[] | undefined) ?? [] };
}

/** The part of a request that an authenticator reads. */
export interface CredentialRequest {
  readonly method: string;
  /** The path with its query. */
  readonly url: string;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Address of the client. */
  readonly ip: string;
}

/** A request that passed the guard. */
export interface PrincipalRequest extends CredentialRequest {
  principal?: Principal;
}

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
