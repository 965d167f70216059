/**
 * Maximum rights of a principal in its tenant: everything, everything except keys and erasure, read only. An operator
 * sees the usage of all tenants, but no content. Other names belong to the application.
 */
export const ROLES = ['admin', 'user', 'viewer', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** The sessions and runs that a principal sees: those that it owns, or all of its tenant. */
export const VISIBILITIES = ['own', 'all'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** The caller of a request. The request passes it to its run, its session and every tool call. */
export interface Principal {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** Narrows the rights of the roles; if absent, they apply in full. */
  readonly scopes?: readonly string[];
  /** If absent, the roles decide: `admin` sees all, `user` its own, `viewer` and `operator` all. */
  readonly visibility?: Visibility;
}
