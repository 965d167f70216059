import { DAY_MS, dayOf, idsFrom } from '../../kernel/index.js';
import type { Row } from '../../persistence/statement/index.js';
import { AGENT_RUN_KEY, RUN_KEY, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';

/** Retention of a total after its last possible call, in ms. Totals of sessions have no limit. */
const RUN_MS = 400 * DAY_MS;
const PAST_DAY_MS = 32 * DAY_MS;

export interface EntryRow extends Amount {
  readonly id: string;
  readonly tenant: string;
  readonly holder: string;
  readonly scopes: string;
  readonly expires_at: number | null;
}

export interface TotalRow extends Amount {
  readonly scope: string;
  readonly tenant: string;
  readonly kept_until: number | null;
}

export function toEntry({ expires_at, scopes, ...row }: EntryRow): BudgetEntry {
  return { ...row, runId: runIdOf(row.id), scopes: JSON.parse(scopes) as string[], expiresAt: expires_at };
}

/** @param id id of an entry, `runId:step` */
export function runIdOf(id: string): string {
  return id.slice(0, id.indexOf(':'));
}

/** @param now epoch ms */
export function toEntryRow({ scopes, expiresAt, ...entry }: BudgetEntry, now: number) {
  const { id, tenant, holder, tokens, cost } = entry;
  const row = { id, tenant, holder, tokens, cost, scopes: JSON.stringify(scopes), expires_at: expiresAt };
  return { ...row, updated_at: now } satisfies Row;
}

/** The row of an empty total. @param now epoch ms */
export function toTotalRow({ key, tenant, name, resetsAt }: BudgetScope, now: number) {
  const past = name === 'run' ? now + RUN_MS : null;
  const kept_until = resetsAt === null ? past : resetsAt + PAST_DAY_MS;
  return { scope: key, tenant, tokens: 0, cost: 0, kept_until } satisfies Row;
}

/** Keys of the totals that no call uses after a run has ended. */
export function runKeys(runId: string): readonly string[] {
  return [RUN_KEY + runId, AGENT_RUN_KEY + runId];
}

/**
 * Key ranges of the outdated totals. Keys of runs and days sort by time, so a range scan skips all other totals, above
 * all those of sessions.
 * @param now epoch ms
 * @returns first key (inclusive) and end key (exclusive) of each range
 */
export function outdatedKeys(now: number): (readonly [from: string, before: string])[] {
  const runs = [RUN_KEY, AGENT_RUN_KEY].map((kind) => [kind, kind + idsFrom(now - RUN_MS)] as const);
  const days = ['day:', 'tenant_day:', 'agent_day:', 'agent_tenant_day:'];
  return [...runs, ...days.map((kind) => [kind, kind + dayOf(now - PAST_DAY_MS)] as const)];
}
