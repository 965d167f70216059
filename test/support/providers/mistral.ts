import type { FakeRequest } from '../fake-llm.types.js';
import { adjacentRoles, emptyMessage, pairFault, wrongCallId } from './chat-faults.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { imagesIn } from './request-parts.js';
import { wrongName } from './tool-faults.js';

interface MistralFault extends Fault {
  readonly type?: string;
}

const rule = rulesOf(['mistral'], ({ message, code, type = 'invalid_request_error' }: MistralFault) => ({
  object: 'error',
  message: code === EXTRA ? { detail: JSON.parse(message) as unknown } : message,
  type,
  param: null,
  code: code === undefined || code === EXTRA ? null : code,
}));

const EXTRA = 'extra_forbidden';
const VALIDATOR =
  'https://github.com/mistralai/mistral-common/blob/bc022b91aa1c3b1fb771ac70931ae0009dbf9bad/src/mistral_common/protocol/instruct/validator.py';
/** The roles that may follow a role. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  system: ['system', 'user', 'assistant'],
  user: ['system', 'user', 'assistant'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
};
/** Fields of OpenAI's API that Mistral's API refuses. */
const UNKNOWN = ['max_completion_tokens', 'seed', 'stream_options', 'reasoning_content'];
const MAX_IMAGE = Math.ceil((10 * 1024 * 1024) / 3) * 4;

function order(message: string): MistralFault {
  return { message, code: '3230', type: 'invalid_request_message_order' };
}

function forbidden(loc: readonly (string | number)[]): MistralFault {
  const detail = [{ type: EXTRA, loc: ['body', ...loc], msg: 'Extra inputs are not permitted' }];
  return { message: JSON.stringify(detail), code: EXTRA, status: 422 };
}

function unknownField(request: FakeRequest): MistralFault | undefined {
  const field = UNKNOWN.find((name) => request[name] !== undefined);
  if (field !== undefined) return forbidden([field]);
  const at = request.messages.findIndex(({ reasoning_content }) => reasoning_content !== undefined);
  return at < 0 ? undefined : forbidden(['messages', at, 'assistant', 'reasoning_content']);
}

export const MISTRAL_RULES: readonly ProviderRule[] = [
  rule(
    'role-order',
    'An assistant message follows tool results, and a system message follows no answer.',
    'https://github.com/datapizza-labs/datapizza-ai/issues/98',
    (request) => {
      const found = adjacentRoles(request, (before, role) => !AFTER[before]?.includes(role));
      return found && order(`Unexpected role '${found.role}' after role '${found.before}'`);
    },
  ),
  rule(
    'last-role',
    'The last message is of the user or a tool.',
    'https://github.com/anomalyco/opencode/issues/19115',
    ({ messages }) => {
      const last = messages.at(-1)?.role;
      return last === 'user' || last === 'tool' || messages.length === 1
        ? undefined
        : order(`Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last}`);
    },
  ),
  rule(
    'call-id',
    'A call id has nine letters or digits.',
    'https://github.com/nearai/ironclaw/issues/1241',
    (request) => {
      const found = wrongCallId(request, /^[a-zA-Z0-9]{9}$/);
      return (
        found && {
          message: `Tool call id was ${found.id} but must be a-z, A-Z, 0-9, with a length of 9.`,
          code: '3280',
          type: 'invalid_function_call',
        }
      );
    },
  ),
  rule('pairs', 'The results after a message answer its calls, each once.', VALIDATOR, (request) =>
    (pairFault(request, 'unanswered') ?? pairFault(request, 'orphan') ?? pairFault(request, 'twice'))
      ? order('Not the same number of function calls and responses')
      : undefined,
  ),
  rule(
    'empty-assistant',
    'An assistant message has a content or calls.',
    'https://github.com/solbrowse/extension/issues/16',
    (request) =>
      emptyMessage(request, 'assistant') === undefined
        ? undefined
        : { message: 'Assistant message must have either content or tool_calls, but not none.', code: '3240' },
  ),
  rule('tool-name', 'Names have 1 to 64 of a-z, A-Z, 0-9, _ and -.', VALIDATOR, (request) => {
    const wrong = wrongName(request, /^[a-zA-Z0-9_-]{1,64}$/);
    return (
      wrong && {
        message: `Function name was ${wrong.name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
        code: '3250',
      }
    );
  }),
  rule(
    'unknown-fields',
    'A request has no max_completion_tokens, seed, stream_options or reasoning_content.',
    'https://github.com/BerriAI/litellm/issues/30835',
    unknownField,
  ),
  rule(
    'image-limits',
    'A request has at most 8 images of at most 10 MB.',
    'https://docs.mistral.ai/capabilities/vision',
    (request) => {
      const images = imagesIn(request);
      return images.length > 8 || images.some(({ data = '' }) => data.length > MAX_IMAGE)
        ? { message: 'Too many images in request.', code: '3310' }
        : undefined;
    },
  ),
];
