import type { OwnBudget } from '../llm/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import type { AgentRunInput } from './agent.types.js';

type Budgeted = Pick<AgentDefinition, 'name' | 'budgets'>;

/** Budgets charged for the model calls of an agent's run, in addition to the server's budgets. */
export function budgetsOf(runId: string, { name, budgets }: Budgeted, { heldTo = [] }: AgentRunInput): OwnBudget[] {
  return budgets ? [{ agent: name, runId, limits: budgets }, ...heldTo] : [...heldTo];
}

/** Run budgets that child runs inherit: the usage of a child run also counts in its parent's budget. */
export function handedOn(budgets: readonly OwnBudget[]): readonly OwnBudget[] {
  return budgets.flatMap(({ limits: { run }, ...whose }) => (run ? [{ ...whose, limits: { run } }] : []));
}
