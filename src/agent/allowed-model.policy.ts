import { AppError } from '../common/index.js';
import type { AppConfig } from '../config/index.js';

export interface NamedModel {
  readonly provider: string;
  /** The provider's default when left out. */
  readonly name?: string;
}

/**
 * Whether somebody who asks may choose the model: what it costs is for who runs the server.
 * @param own the model that the agent has anyway
 * @throws AppError `MODEL_NOT_ALLOWED`
 */
export function assertAllowed({ provider, name }: NamedModel, own: NamedModel, llm: AppConfig['llm']): void {
  if (provider === own.provider && name === own.name) return;
  const model = `${provider}:${name}`;
  const why = refusal(model, name, llm);
  if (why === null) return;
  throw new AppError('MODEL_NOT_ALLOWED', `A request may not name the model "${model}": ${why}.`, {
    details: { model },
  });
}

function refusal(
  model: string,
  name: string | undefined,
  { requestModels, prices, budget }: AppConfig['llm'],
): string | null {
  if (requestModels) {
    const isListed = requestModels.some((pattern) => toExpression(pattern).test(model));
    return isListed ? null : 'it is not among those of LLM_REQUEST_MODELS';
  }
  const { run, session, tenantDay, day } = budget;
  const isCosted = [run, session, tenantDay, day].some((limit) => limit?.cost !== undefined);
  if (!isCosted || model in prices || (name !== undefined && name in prices)) return null;
  return 'there are budgets of costs, and it has no price (add it to LLM_PRICES or LLM_REQUEST_MODELS)';
}

function toExpression(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w:]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
