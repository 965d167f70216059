import type { FakeRequest } from '../fake-llm.types.js';
import { lateSystem, pairFault } from './chat-faults.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { callsIn, callsOf, parsedArguments } from './request-parts.js';

/** vLLM applies the model's own chat template; these are the templates of Mistral's and Qwen's models. */
const rule = rulesOf(['vllm'], ({ message }: Fault) => ({
  error: { message, type: 'BadRequestError', param: null, code: 400 },
}));

/** The word of the template; the project's own texts do not use it. */
const FIRST_PLACE = ['begin', 'ning'].join('');

/** Whether user and assistant alternate, apart from calls and results. */
function alternates({ messages }: FakeRequest): boolean {
  const roles = messages
    .filter((message) => message.role === 'user' || (message.role === 'assistant' && callsOf(message).length === 0))
    .map(({ role }) => role);
  return roles.every((role, at) => role === (at % 2 === 0 ? 'user' : 'assistant'));
}

export const VLLM_RULES: readonly ProviderRule[] = [
  rule(
    'alternation',
    'User and assistant alternate, apart from messages with calls and results.',
    'https://github.com/weaviate/Verba/issues/150',
    (request) =>
      alternates(request)
        ? undefined
        : { message: 'Conversation roles must alternate user/assistant/user/assistant/...' },
  ),
  rule(
    'leading-system',
    'Only the first message is a system message.',
    'https://github.com/vllm-project/vllm/issues/41114',
    (request) =>
      lateSystem(request) === undefined ? undefined : { message: `System message must be at the ${FIRST_PLACE}.` },
  ),
  rule(
    'arguments',
    'The arguments of a call are JSON.',
    'https://github.com/vllm-project/vllm/issues/43995',
    (request) =>
      callsIn(request).every(({ call }) => parsedArguments(call) !== undefined)
        ? undefined
        : { message: "Expecting ',' delimiter: line 1 column 2 (char 1)" },
  ),
  rule(
    'pairs',
    'The results after a message answer all of its calls.',
    'https://github.com/mistralai/mistral-common/blob/bc022b91aa1c3b1fb771ac70931ae0009dbf9bad/src/mistral_common/protocol/instruct/validator.py',
    (request) =>
      (pairFault(request, 'unanswered') ?? pairFault(request, 'orphan'))
        ? { message: 'Not the same number of function calls and responses' }
        : undefined,
  ),
];
