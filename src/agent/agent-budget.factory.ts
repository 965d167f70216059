import type { OwnBudget } from '../llm/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import type { AgentRunInput } from './agent.types.js';

type Budgeted = Pick<AgentDefinition, 'name' | 'budgets'>;

/** The budgets that the model calls of an agent's run count in, beside those of the server. */
export function budgetsOf(runId: string, { name, budgets }: Budgeted, { heldTo = [] }: AgentRunInput): OwnBudget[] {
  return budgets ? [{ agent: name, runId, limits: budgets }, ...heldTo] : [...heldTo];
}

/** Those that a run hands on to the runs that it calls: what they take is a part of it. */
export function handedOn(budgets: readonly OwnBudget[]): readonly OwnBudget[] {
  return budgets.flatMap(({ limits: { run }, ...whose }) => (run ? [{ ...whose, limits: { run } }] : []));
}
