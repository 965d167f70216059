import { toRunError, type RunAnswer } from '../agent/index.js';
import type { ChatAnswerDto } from './run-answer.dto.js';

/**
 * The body of a chat response.
 * @throws AppError with the failure's code and the run's id if the run failed
 */
export function toChatAnswer(answer: RunAnswer, includeDetails: boolean): ChatAnswerDto {
  if (answer.error) throw toRunError(answer);
  const { steps, tool_results, status, agent: _agent, error: _error, run_id, session_id, ...rest } = answer;
  const { result, output, iterations, duration_ms, is_complete, ...facts } = rest;
  return {
    result,
    ...('output' in rest && { output }),
    iterations,
    duration_ms,
    is_complete,
    ...(includeDetails && { steps }),
    // Without a final answer the results of the tools are the outcome.
    ...((includeDetails || facts.finish_reason === 'iteration_limit') && { tool_results }),
    session_id,
    run_id,
    ...(status !== 'completed' && { status }),
    ...facts,
  };
}
