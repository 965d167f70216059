/**
 * What a principal may do at most: everything of a tenant, everything but keys, only read; and, of all tenants, what they
 * use and nothing that they say. Other names are an application's own.
 */
export const ROLES = ['admin', 'user', 'viewer', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** Who asks: travels with a request into its run, its session and every tool call. */
export interface Principal {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** To what the rights of the roles are narrowed; without it they are not. */
  readonly scopes?: readonly string[];
}
