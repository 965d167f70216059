import { countMessages, type TokenCounter } from '../../llm/index.js';
import type { SessionMessage, StoredTurn } from '../session.types.js';
import { toPlainTurn } from './plain-turn.mapper.js';

/** The tokens of a turn, with and without its tool calls. */
export function countTurn(
  counter: TokenCounter,
  messages: readonly SessionMessage[],
): Pick<StoredTurn, 'tokens' | 'plainTokens'> {
  const tokens = countMessages(counter, messages);
  const hasCalls = messages.some((one) => one.role === 'tool' || (one.role === 'assistant' && one.toolCalls));
  return { tokens, plainTokens: hasCalls ? countMessages(counter, toPlainTurn(messages)) : tokens };
}
