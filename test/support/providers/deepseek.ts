import type { FakeRequest } from '../fake-llm.types.js';
import { emptyMessage, pairFault, unknownRole } from './chat-faults.js';
import { openAiBody } from './openai.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { callsOf, forcesCall, imagesIn, isNode, unpairedSurrogate } from './request-parts.js';
import { wrongName, wrongRoot } from './tool-faults.js';

const INVALID = 'invalid_request_error';
const rule = rulesOf(['deepseek'], (fault: Fault) => openAiBody({ code: INVALID, ...fault }));

const ROLES = ['system', 'user', 'assistant', 'tool'];
const API = 'https://api-docs.deepseek.com/api/create-chat-completion';

/** Thinking is on by default, except for the alias of the mode without it, and can be turned off. */
function thinks({ model, thinking }: FakeRequest): boolean {
  return model !== 'deepseek-chat' && !(isNode(thinking) && thinking['type'] === 'disabled');
}

/** The first assistant message without reasoning after a call in its turn. */
function unechoed({ messages }: FakeRequest): number | undefined {
  let hasCall = false;
  for (const [at, message] of messages.entries()) {
    if (message.role === 'user') hasCall = false;
    if (callsOf(message).length > 0) hasCall = true;
    if (hasCall && message.role === 'assistant' && message.reasoning_content === undefined) return at;
  }
  return undefined;
}

export const DEEPSEEK_RULES: readonly ProviderRule[] = [
  rule(
    'reasoning-echo',
    'In thinking mode, every assistant message of a turn with calls has its reasoning_content.',
    'https://api-docs.deepseek.com/guides/thinking_mode',
    (request) =>
      thinks(request) && unechoed(request) !== undefined
        ? { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.' }
        : undefined,
  ),
  rule(
    'forced-call',
    'In thinking mode, a request forces no call.',
    'https://github.com/tickernelz/opencode-mem/issues/253',
    (request) =>
      thinks(request) && forcesCall(request)
        ? { message: 'Thinking mode does not support this tool_choice' }
        : undefined,
  ),
  rule(
    'roles',
    'The roles are system, user, assistant and tool.',
    'https://github.com/earendil-works/pi/issues/1048',
    (request) => {
      const found = unknownRole(request, ROLES);
      return (
        found && {
          message: `Failed to deserialize the JSON body into the target type: messages[${found.at}].role: unknown variant \`${found.role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``,
        }
      );
    },
  ),
  rule(
    'images',
    'A content has text parts only.',
    'https://github.com/yilewang/llm-for-zotero/issues/143',
    (request) => {
      const [image] = imagesIn(request);
      return (
        image && {
          message: `Failed to deserialize the JSON body into the target type: messages[${image.at}]: unknown variant \`image_url\`, expected \`text\``,
        }
      );
    },
  ),
  rule(
    'empty-assistant',
    'An assistant message has a content or calls.',
    'https://github.com/carlrobertoh/ProxyAI/issues/834',
    (request) =>
      emptyMessage(request, 'assistant') === undefined
        ? undefined
        : { message: 'Invalid assistant message: content or tool_calls must be set' },
  ),
  rule(
    'unanswered-call',
    'Tool messages answer every call before the next message.',
    'https://github.com/BigPizzaV3/CodexPlusPlus/issues/329',
    (request) =>
      pairFault(request, 'unanswered') && {
        message:
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
      },
  ),
  rule(
    'orphan-result',
    'A tool message answers a call of the assistant message before it.',
    'https://github.com/itmisx/deepx-code/issues/94',
    (request) =>
      pairFault(request, 'orphan') && {
        message: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
      },
  ),
  rule(
    'schema-object',
    "A tool's schema has type object at the top.",
    'https://github.com/farion1231/cc-switch/issues/5490',
    (request) => {
      const tool = wrongRoot(request, ({ type }) => type !== 'object');
      return (
        tool && {
          message: `Invalid schema for function '${tool.name}': schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(tool.schema['type'] ?? null)}'.`,
        }
      );
    },
  ),
  rule('tool-name', 'Names of tools have 1 to 64 of a-z, A-Z, 0-9, _ and -.', API, (request) => {
    const wrong = wrongName(request, /^[a-zA-Z0-9_-]{1,64}$/);
    return wrong && { message: `Invalid '${wrong.param}': string does not match pattern '^[a-zA-Z0-9_-]+$'.` };
  }),
  rule('tool-count', 'A request has at most 128 tools.', API, ({ tools = [] }) =>
    tools.length > 128 ? { message: "Invalid 'tools': array too long. Expected at most 128 tools." } : undefined,
  ),
  rule('stop-count', 'A request has at most 16 stop sequences.', API, ({ stop }) =>
    Array.isArray(stop) && stop.length > 16
      ? { message: "Invalid 'stop': array too long. Expected at most 16 sequences." }
      : undefined,
  ),
  rule(
    'surrogates',
    'Every text is well-formed Unicode.',
    'https://github.com/JohnnyZ93/oai-compatible-copilot/pull/271',
    (request) => {
      const path = unpairedSurrogate(request);
      return path === undefined
        ? undefined
        : { message: `Failed to parse the request body as JSON: ${path}: lone leading surrogate in hex escape` };
    },
  ),
];
