import { AppError } from '../common/index.js';
import type { AppConfig } from '../config/index.js';
import type { AgentBudgets } from '../llm/index.js';
import type { AgentDefinitionInput } from './agent-definition.schema.js';

export interface NamedModel {
  readonly provider: string;
  /** The provider's default when left out. */
  readonly name?: string;
}

/**
 * Whether somebody who asks may choose the model: what it costs is for who runs the server.
 * @param agent whose model it has anyway, and whose budgets hold
 * @throws AppError `MODEL_NOT_ALLOWED`
 */
export function assertAllowed(
  { provider, name }: NamedModel,
  { model: own, budgets = {} }: Pick<AgentDefinitionInput, 'model' | 'budgets'>,
  llm: AppConfig['llm'],
): void {
  if (provider === own.provider && name === own.name) return;
  const model = `${provider}:${name}`;
  const why = refusal(model, name, llm, budgets);
  if (why === null) return;
  throw new AppError('MODEL_NOT_ALLOWED', `A request may not name the model "${model}": ${why}.`, {
    details: { model },
  });
}

function refusal(
  model: string,
  name: string | undefined,
  { requestModels, prices, budget }: AppConfig['llm'],
  own: AgentBudgets,
): string | null {
  if (requestModels) {
    const isListed = requestModels.some((pattern) => toExpression(pattern).test(model));
    return isListed ? null : 'it is not among those of LLM_REQUEST_MODELS';
  }
  if ((!isCosted(budget) && !isCosted(own)) || isPriced({ model, name }, prices)) return null;
  return 'there are budgets of costs, and it has no price (add it to LLM_PRICES or LLM_REQUEST_MODELS)';
}

/** Whether one of the budgets is of costs. */
export function isCosted({ run, session, tenantDay, day }: AgentBudgets): boolean {
  return [run, session, tenantDay, day].some((limit) => limit?.cost !== undefined);
}

/** @param model `provider:name` */
export function isPriced(
  { model, name }: { readonly model: string; readonly name: string | undefined },
  prices: AppConfig['llm']['prices'],
): boolean {
  return model in prices || (name !== undefined && name in prices);
}

function toExpression(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w:]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
