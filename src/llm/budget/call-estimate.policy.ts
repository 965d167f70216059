import type { ModelPrice } from '../../config/index.js';
import type { ChatRequest, ChatResult } from '../chat.types.js';
import { countMessages } from '../tokens/message-tokens.mapper.js';
import type { TokenCounter } from '../tokens/token-counter.js';
import { costOf } from '../wrappers/cost.policy.js';
import { toUnits } from './budget-scope.policy.js';
import { NOTHING, type Amount } from './budget.types.js';

/** What a call may take: its prompt as far as it can be counted here, and the longest reply. */
export function estimateOf(
  { messages, tools = [], parameters }: ChatRequest,
  counter: TokenCounter,
  replyTokens: number,
  price: ModelPrice | undefined,
): Amount {
  const toolTokens = tools.length === 0 ? 0 : counter.count(JSON.stringify(tools));
  const promptTokens = countMessages(counter, messages) + toolTokens;
  const completionTokens = parameters?.maxTokens ?? replyTokens;
  const totalTokens = promptTokens + completionTokens;
  const cost = price ? toUnits(costOf({ promptTokens, completionTokens, totalTokens }, price)) : 0;
  return { tokens: totalTokens, cost };
}

/** What a call took; `undefined` when nobody counted. */
export function spentOn(result: ChatResult | null): Amount | undefined {
  if (!result) return NOTHING;
  const { usage } = result;
  return usage && { tokens: Math.round(usage.totalTokens), cost: toUnits(usage.cost ?? 0) };
}
