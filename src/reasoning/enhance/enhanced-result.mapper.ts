import { AppError, type ErrorCode } from '../../errors/index.js';
import type { AssistantMessage, ChatResult, FinishReason } from '../../llm/chat/index.js';
import { toUsage } from '../../run/usage/index.js';
import type { ReasoningOutcome } from '../reasoning.types.js';
import type { RecordingChatModel } from './recording-chat-model.js';

type Ended = Extract<ReasoningOutcome, { kind: 'ended' }>;

/**
 * Merges the replies of one call into one reply.
 * @throws the error of the model, or an AppError with the reason why there is no answer
 */
export function toEnhancedResult(
  outcome: ReasoningOutcome,
  recorded: RecordingChatModel,
  maxDepth: number,
): ChatResult {
  if (outcome.kind !== 'ended') throw new AppError('INTERNAL', 'A call of an enhanced model waits for a person.');
  const { replies } = recorded;
  const switches = replies.flatMap((reply) => reply.switches ?? []);
  return {
    ...answer(outcome, recorded, maxDepth),
    model: outcome.model,
    ...(replies.some(({ usage }) => usage) && { usage: toUsage(outcome.usage) }),
    ...(replies.every(({ isCached }) => isCached) && { isCached: true as const }),
    ...(switches.length > 0 && { switches }),
  };
}

function answer(
  outcome: Ended,
  recorded: RecordingChatModel,
  maxDepth: number,
): { readonly message: AssistantMessage; readonly finishReason: FinishReason } {
  switch (outcome.finishReason) {
    case 'stop':
    case 'length':
    case 'content_filter':
      return { message: lastMessage(outcome, recorded), finishReason: outcome.finishReason };
    case 'iteration_limit':
      // For the caller, the limit truncated the answer.
      return { message: { role: 'assistant', content: limitReached(maxDepth) }, finishReason: 'length' };
    case 'timeout':
    case 'cancelled':
    case 'error':
      throw failureOf(outcome, recorded);
  }
}

/** The last message of the model, with its reasoning. */
function lastMessage({ messages }: Ended, { replies }: RecordingChatModel): AssistantMessage {
  const last = messages.at(-1);
  const reasoning = replies.at(-1)?.message.reasoning;
  return {
    role: 'assistant',
    content: last?.role === 'assistant' ? last.content : '',
    ...(reasoning !== undefined && { reasoning }),
  };
}

function limitReached(maxDepth: number): string {
  const rounds = maxDepth === 1 ? '1 round' : `${maxDepth} rounds`;
  return `There is no answer: the limit of ${rounds} of tool calls was reached, and the model wanted to call more tools.`;
}

function failureOf({ failure }: Ended, recorded: RecordingChatModel): unknown {
  if (recorded.failure) return recorded.failure.error;
  if (!failure) return new AppError('RUN_CANCELLED', 'The call was cancelled.');
  const { code, message, is_retryable: isRetryable, details } = failure;
  return new AppError(code as ErrorCode, message, { isRetryable, ...(details && { details }) });
}
