import { toRunError, type RunAnswer } from '../agent/index.js';
import type { ChatAnswerDto } from './run-answer.dto.js';

/**
 * What a chat answers with.
 * @throws AppError with the failure's code when the run failed, naming the run
 */
export function toChatAnswer(answer: RunAnswer, includeDetails: boolean): ChatAnswerDto {
  if (answer.error) throw toRunError(answer);
  const { steps, tool_results, status, agent: _agent, error: _error, ...rest } = answer;
  return {
    ...rest,
    ...(status !== 'completed' && { status }),
    ...(includeDetails && { steps, tool_results }),
  };
}
