import { Injectable } from '@nestjs/common';
import type { FindOptionsWhere } from 'typeorm';
import { newId, type Principal } from '../../kernel/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import { Database, inLists } from '../../persistence/index.js';
import type { Table } from '../../persistence/schema/index.js';
import { insert, type Statement } from '../../persistence/statement/index.js';
import type { RunRecord } from '../../run/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { Ownership } from '../../security/index.js';
import { Cipher, type SealedTable } from '../../security/encryption/index.js';
import { CallApprovalEntity, type StoredApproval } from './entities/call-approval.entity.js';

/** Scopes that cover later calls. */
export type WideScope = StoredApproval['scope'];

/** An approval that also covers later calls. */
export interface CallApproval extends Omit<StoredApproval, 'tenant' | 'addresses' | 'decider'> {
  /** Hosts and e-mail addresses that arguments may contain, in lower case. */
  readonly addresses: readonly string[];
  readonly decider: Principal;
}

/** The call that an approval may cover. */
export interface CoveredCall {
  readonly tenant: string;
  readonly owner: string;
  readonly runId: string;
  readonly sessionId: string | null;
  readonly tool: string;
  readonly definition: string;
}

export interface ApprovalFilter {
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
}

const placeOf = (tenant: string, id: string) => ({ tenant, column: 'call_approval.addresses', owner: id, row: '' });

/** The encrypted columns, for re-encryption. */
export const APPROVAL_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'call_approval',
    key: ['tenant', 'id'],
    columns: [{ name: 'addresses', place: ({ tenant, id }) => placeOf(String(tenant), String(id)) }],
  },
];

/** The statement that deletes the approvals of a session's runs. */
export function withoutApprovals(tenant: string, sessionId: string): Statement {
  return { sql: 'DELETE FROM call_approval WHERE tenant = ? AND session_id = ?', params: [tenant, sessionId] };
}

/** The statements that delete the approvals of runs. */
export function withoutApprovalsOf(tenant: string, runIds: readonly string[]): Statement[] {
  return inLists(runIds).map(({ marks, params }) => ({
    sql: `DELETE FROM call_approval WHERE tenant = ? AND run_id IN (${marks})`,
    params: [tenant, ...params],
  }));
}

/** The table `call_approval`. */
@Injectable()
export class CallApprovalStore {
  private readonly table: Table<StoredApproval>;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
  ) {
    this.table = database.table(CallApprovalEntity);
  }

  /** An approval and the statements that store it, for the batch of the decision. Those of ended runs are deleted. */
  prepare(
    { tenant, id: runId, sessionId, principal: { id: owner } }: RunRecord,
    request: WaitingRequest,
    scope: WideScope,
    decider: Principal,
  ) {
    const id = newId();
    const { definition, addresses } = request.covers!;
    const row = {
      tenant,
      id,
      scope,
      run_id: runId,
      session_id: sessionId,
      owner,
      tool: request.tool,
      definition,
      addresses: this.cipher.seal(JSON.stringify(addresses), placeOf(tenant, id)),
      decider: canonicalJson(decider),
      decided_at: Date.now(),
    };
    return { id, statements: [withoutEnded(tenant), insert('call_approval', row)] };
  }

  /** Approvals for a call, whatever its arguments. */
  async covering({ tenant, owner, runId, sessionId, tool, definition }: CoveredCall): Promise<CallApproval[]> {
    const bound = { tenant, owner, tool, definition };
    const where: FindOptionsWhere<StoredApproval>[] = [{ ...bound, scope: 'run', runId }];
    if (sessionId !== null) where.push({ ...bound, scope: 'session', sessionId });
    return (await this.table.find({ where, order: { id: 'ASC' } })).map((row) => this.toApproval(row));
  }

  /** Approvals that the principal sees, the newest first. @param before id of the last one of the previous page */
  async list(
    principal: Principal,
    { sessionId, runId }: ApprovalFilter,
    limit: number,
    before?: string,
  ): Promise<CallApproval[]> {
    await this.database.commit([withoutEnded(principal.tenant)]);
    const { LessThan } = await import('typeorm');
    const where = {
      ...this.visible(principal),
      ...(sessionId !== undefined && { sessionId }),
      ...(runId !== undefined && { runId }),
      ...(before !== undefined && { id: LessThan(before) }),
    };
    return (await this.table.find({ where, order: { id: 'DESC' }, take: limit })).map((row) => this.toApproval(row));
  }

  /** @returns whether the principal saw and revoked it */
  async revoke(principal: Principal, id: string): Promise<boolean> {
    return (await this.table.delete({ ...this.visible(principal), id })) > 0;
  }

  private visible(principal: Principal): { tenant: string; owner?: string } {
    const owner = this.ownership.limitOf(principal);
    return { tenant: principal.tenant, ...(owner !== null && { owner }) };
  }

  private toApproval({ tenant, addresses, decider, ...row }: StoredApproval): CallApproval {
    return {
      ...row,
      addresses: JSON.parse(this.cipher.open(addresses, placeOf(tenant, row.id))) as string[],
      decider: JSON.parse(decider) as Principal,
    };
  }
}

/** Approvals for one run have no effect after its end. */
function withoutEnded(tenant: string): Statement {
  return {
    sql: `DELETE FROM call_approval WHERE tenant = ? AND scope = 'run' AND run_id NOT IN (
      SELECT id FROM run WHERE tenant = ? AND status IN ('queued', 'running', 'waiting'))`,
    params: [tenant, tenant],
  };
}
