import { AppError } from '../errors/index.js';
import type { LlmConfig } from '../config/index.js';
import { isCosted, isPriced, type AgentBudgets } from '../llm/index.js';
import type { AgentDefinitionInput } from './agent-definition.schema.js';

export interface NamedModel {
  readonly provider: string;
  /** Default: the provider's default model. */
  readonly name?: string;
}

/**
 * Checks that a request may choose the model: the operator decides which costs are permitted.
 * @param agent the agent, whose own model is always allowed and whose budgets apply
 * @throws AppError `MODEL_NOT_ALLOWED`
 */
export function assertAllowed(
  { provider, name }: NamedModel,
  { model: own, budgets = {} }: Pick<AgentDefinitionInput, 'model' | 'budgets'>,
  llm: LlmConfig,
): void {
  if (provider === own.provider && name === own.name) return;
  const model = `${provider}:${name}`;
  const why = refusal({ provider, name: name ?? '' }, llm, budgets);
  if (why === null) return;
  throw new AppError('MODEL_NOT_ALLOWED', `A request may not name the model "${model}": ${why}.`, {
    details: { model },
  });
}

function refusal(
  model: Required<NamedModel>,
  { requestModels, prices, budget }: LlmConfig,
  own: AgentBudgets,
): string | null {
  const name = `${model.provider}:${model.name}`;
  if (requestModels && !requestModels.some((pattern) => toExpression(pattern).test(name)))
    return 'it is not among those of LLM_REQUEST_MODELS';
  if ((!isCosted(budget) && !isCosted(own)) || isPriced(model, prices)) return null;
  return 'there is a budget of cost, and it has no price (add it to LLM_PRICES, with 0 if it costs nothing)';
}

function toExpression(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w:]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
