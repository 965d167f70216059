import type { ModelPrice } from '../../config/index.js';
import type { ChatRequest, ChatResult } from '../chat.types.js';
import { countMessages } from '../tokens/message-tokens.mapper.js';
import type { TokenCounter } from '../tokens/token-counter.js';
import { costOf, toUnits } from '../wrappers/cost.policy.js';
import { NOTHING, type Amount } from './budget.types.js';
import type { CallEnd } from './model-budget.js';

/** What one call may take and took, as far as that can be told here. */
export class CallEstimate {
  private readonly promptTokens: number;
  /** Its prompt, and the longest reply. */
  readonly most: Amount;

  constructor(
    { messages, tools = [], parameters }: ChatRequest,
    private readonly counter: TokenCounter,
    /** What comes with every call of an agent. */
    repeated: TokenCounter,
    replyTokens: number,
    private readonly price: ModelPrice | undefined,
  ) {
    const toolTokens = tools.length === 0 ? 0 : repeated.count(JSON.stringify(tools));
    this.promptTokens = countMessages(counter, messages, repeated) + toolTokens;
    this.most = this.amountOf(parameters?.maxTokens ?? replyTokens);
  }

  spentOn(end: CallEnd): Amount {
    switch (end.kind) {
      case 'answered':
        return countedIn(end.result) ?? this.most;
      case 'refused':
        return NOTHING;
      case 'broken':
        return this.amountOf(this.counter.count(end.said));
    }
  }

  private amountOf(completionTokens: number): Amount {
    const { promptTokens, price } = this;
    const totalTokens = promptTokens + completionTokens;
    const cost = price ? toUnits(costOf({ promptTokens, completionTokens, totalTokens }, price)) : 0;
    return { tokens: totalTokens, cost };
  }
}

function countedIn({ usage }: ChatResult): Amount | undefined {
  return usage && { tokens: Math.round(usage.totalTokens), cost: toUnits(usage.cost ?? 0) };
}
