import { pairFault } from './chat-faults.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { forcesCall } from './request-parts.js';

const rule = rulesOf(['qwen'], ({ message }: Fault) => ({
  error: { message, type: 'invalid_request_error', param: null, code: 'invalid_parameter_error' },
  request_id: 'req-strict',
}));

const PREFIX = '<400> InternalError.Algo.InvalidParameter:';
/** Open models think by default, and then only stream. */
const OPEN = /^qwen3-\d+(?:\.\d+)?b/;
const THINKING = /^qwen3(?:-\d|\.\d|-max)/;

export const QWEN_RULES: readonly ProviderRule[] = [
  rule(
    'orphan-result',
    'A tool message answers a call of the assistant message before it.',
    'https://github.com/QwenLM/qwen-code/issues/2360',
    (request) =>
      pairFault(request, 'orphan') && {
        message: `${PREFIX} messages with role "tool" must be a response to a preceeding message with "tool_calls".`,
      },
  ),
  rule(
    'unanswered-call',
    'Tool messages answer every call before the next message.',
    'https://github.com/QwenLM/qwen-code/issues/606',
    (request) => {
      const fault = pairFault(request, 'unanswered');
      return (
        fault && {
          message: `${PREFIX} An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[${fault.at}].role`,
        }
      );
    },
  ),
  rule(
    'forced-call',
    'In thinking mode, a request forces no call.',
    'https://github.com/cloudwego/eino/issues/994',
    (request) =>
      THINKING.test(request.model) && forcesCall(request) && request['enable_thinking'] !== false
        ? {
            message: `${PREFIX} The tool_choice parameter does not support being set to required or object in thinking mode`,
          }
        : undefined,
  ),
  rule(
    'thinking-streams',
    'An open model that thinks streams its reply.',
    'https://github.com/modelscope/evalscope/issues/998',
    (request) =>
      OPEN.test(request.model) && !request.stream && request['enable_thinking'] !== false
        ? { message: 'parameter.enable_thinking must be set to false for non-streaming calls' }
        : undefined,
  ),
];
