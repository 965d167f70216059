import { Global, Module } from '@nestjs/common';
import { securityConfig, type SecurityConfig } from '../config/namespaces/index.js';
import type { Principal, Visibility } from '../kernel/index.js';

/** A SQL condition with its parameters. */
export interface RowFilter {
  readonly sql: string;
  readonly params: readonly string[];
}

type Viewer = Pick<Principal, 'roles' | 'visibility'>;

/**
 * The visibility of a principal, unless `OWNERSHIP` is `tenant`: as its key says, else by its roles. `admin` counts before
 * `user`, and `user` before `viewer` and `operator`. Other roles see their own data only.
 */
export function visibilityOf({ roles, visibility }: Viewer): Visibility {
  if (visibility !== undefined) return visibility;
  if (roles.includes('admin')) return 'all';
  return !roles.includes('user') && (roles.includes('viewer') || roles.includes('operator')) ? 'all' : 'own';
}

/** Whether the principal only watches: it reads no instructions of agents. */
export function isViewer({ roles }: Pick<Principal, 'roles'>): boolean {
  return roles.includes('viewer') && !roles.includes('user') && !roles.includes('admin');
}

/**
 * The rule of ownership inside a tenant. Each store of owned rows (sessions, runs, usage, tool states) applies it in its
 * query, so a row that the caller may not see is absent for it, like a row of another tenant.
 */
export class Ownership {
  /** @param owner `tenant`: every principal of a tenant sees all of its rows */
  constructor(private readonly owner: 'principal' | 'tenant' = 'principal') {}

  /** The owner whose rows alone this principal sees; `null` if it sees all rows of its tenant. */
  limitOf(principal: Principal): string | null {
    return this.owner === 'principal' && visibilityOf(principal) === 'own' ? principal.id : null;
  }

  /**
   * The rows that this principal sees.
   * @param column the column of the owner's id; a row without an owner is visible to `all` only
   * @param table name before the columns, if the query joins tables
   */
  filter(principal: Principal, column: string, table?: string): RowFilter {
    const prefix = table === undefined ? '' : `${table}.`;
    const owner = this.limitOf(principal);
    const ofTenant = `${prefix}tenant = ?`;
    if (owner === null) return { sql: ofTenant, params: [principal.tenant] };
    return { sql: `${ofTenant} AND ${prefix}${column} = ?`, params: [principal.tenant, owner] };
  }
}

/** Provides the rule to every module that stores owned rows. */
@Global()
@Module({
  providers: [
    {
      provide: Ownership,
      useFactory: ({ ownership }: SecurityConfig) => new Ownership(ownership),
      inject: [securityConfig.KEY],
    },
  ],
  exports: [Ownership],
})
export class OwnershipModule {}
