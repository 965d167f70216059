import type { Principal, Role } from '../kernel/index.js';
import { ALL_SCOPES, SCOPES, type Scope } from './scope.types.js';

const ADMIN_ONLY: readonly Scope[] = ['sessions:trust', 'tools:write', 'keys', 'erase', 'audit'];
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
