import type { ModelPrice } from '../../config/index.js';
import type { ChatRequest, ChatResult } from '../chat/chat.types.js';
import type { AssistantMessage } from '../chat/message.types.js';
import { countMessages } from '../tokens/token-estimate.mapper.js';
import type { TokenCounter } from '../tokens/token-counter.js';
import { checkUsage } from '../wire/reply.parser.js';
import { costOf, toUnits } from '../models/model-facts.js';
import { NOTHING, type Amount } from './budget.types.js';
import type { CallEnd } from './model-budget.js';

/** Tokens and cost of one call: the maximum before the call, and the used amount after it. */
export class CallEstimate {
  private readonly promptTokens: number;
  /** Whether the provider limits the reply. */
  readonly isLimited: boolean;
  /** The longest reply, in tokens. */
  readonly mostReply: number;
  /** The prompt and the longest reply. */
  readonly most: Amount;

  constructor(
    { messages, tools = [], parameters }: ChatRequest,
    readonly counter: TokenCounter,
    /** Counts the parts that every call of an agent repeats. */
    repeated: TokenCounter,
    /** The longest reply where the request does not limit it, in tokens. */
    readonly replyTokens: number,
    readonly price: ModelPrice | undefined,
  ) {
    const toolTokens = tools.length === 0 ? 0 : repeated.count(JSON.stringify(tools));
    this.promptTokens = countMessages(counter, messages, repeated) + toolTokens;
    this.isLimited = parameters?.maxTokens !== undefined;
    this.mostReply = parameters?.maxTokens ?? replyTokens;
    this.most = this.amountOf(this.mostReply);
  }

  spentOn(end: CallEnd): Amount {
    switch (end.kind) {
      case 'answered':
        return this.answered(end.result);
      case 'refused':
        return NOTHING;
      case 'broken':
        return this.broken(end);
    }
  }

  /** The reported counts; a prompt or a reply without a count is estimated. */
  private answered({ message, usage }: ChatResult): Amount {
    const checked = usage && checkUsage(usage);
    const prompt = checked?.promptTokens || this.promptTokens;
    const completion = checked?.completionTokens || this.counter.count(textOf(message));
    const isReported = checked && prompt + completion === checked.totalTokens;
    if (!isReported) return this.amountOf(completion, prompt);
    return { tokens: checked.totalTokens, cost: toUnits(usage.cost ?? 0) };
  }

  /** The larger of the reported counts and of the estimate of what arrived. */
  private broken({ said, unseen, usage }: Extract<CallEnd, { kind: 'broken' }>): Amount {
    const arrived = this.counter.count(said) + unseenTokens(unseen);
    return this.amountOf(Math.max(arrived, usage?.completionTokens ?? 0), usage?.promptTokens || this.promptTokens);
  }

  amountOf(completionTokens: number, promptTokens = this.promptTokens): Amount {
    const { price } = this;
    const totalTokens = promptTokens + completionTokens;
    // The provider may write the whole prompt to its cache.
    const isWritten = price?.cacheWrite !== undefined && price.cacheWrite > price.input;
    const usage = { promptTokens, completionTokens, totalTokens, ...(isWritten && { cacheWriteTokens: promptTokens }) };
    const cost = price ? toUnits(costOf(usage, price)) : 0;
    return { tokens: totalTokens, cost };
  }
}

/** All that a model generated, as one text. */
function textOf({ content, reasoning = '', toolCalls = [] }: AssistantMessage): string {
  const texts = [reasoning, content, ...toolCalls.flatMap((call) => [call.name, call.arguments])];
  return texts.filter((text) => text !== '').join('\n');
}

/** Estimates the tokens of call arguments: JSON has about three characters per token. @param length UTF-16 units */
export function unseenTokens(length = 0): number {
  return Math.ceil(length / 3);
}
