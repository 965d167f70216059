import type { FakeRequest } from '../fake-llm.types.js';
import {
  anthropicBody,
  anthropicImages,
  anthropicTools,
  generation,
  idsOf,
  isBlank,
  messagesOf,
  systemOf,
  type AnthropicMessage,
} from './anthropic-parts.js';
import { rulesOf, type ProviderRule } from './provider-rule.js';
import { isNode, isStrict, schemaNodes, unpairedSurrogate } from './request-parts.js';
import { UNIONS } from './tool-faults.js';

const rule = rulesOf(['anthropic'], anthropicBody);

const MESSAGES_API = 'https://platform.claude.com/docs/en/api/messages';
const TOOL_USE = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use';
const STRUCTURED = 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs';
const VISION = 'https://platform.claude.com/docs/en/build-with-claude/vision';

const MAGIC: Readonly<Record<string, string>> = {
  'image/png': 'iVBOR',
  'image/jpeg': '/9j/',
  'image/gif': 'R0lGOD',
  'image/webp': 'UklGR',
};
const FIELDS = new Set(
  'model messages system max_tokens tools tool_choice temperature top_p top_k stop_sequences stream thinking output_config metadata service_tier cache_control'.split(
    ' ',
  ),
);

function someMessage(
  request: FakeRequest,
  isWrong: (message: AnthropicMessage, at: number, all: readonly AnthropicMessage[]) => boolean,
): number | undefined {
  const at = messagesOf(request).findIndex(isWrong);
  return at < 0 ? undefined : at;
}

const MESSAGE_RULES: readonly ProviderRule[] = [
  rule('first-role', 'The first message is of the user.', MESSAGES_API, ({ messages }) =>
    messages[0]?.role === 'user' ? undefined : { message: 'messages: first message must use the "user" role' },
  ),
  rule('roles', 'The roles are user and assistant.', 'https://github.com/zai-org/GLM-5/issues/74', (request) => {
    const at = someMessage(request, ({ role }) => role !== 'user' && role !== 'assistant');
    return at === undefined ? undefined : { message: `messages.${at}.role: Input should be 'user' or 'assistant'` };
  }),
  rule(
    'unanswered-call',
    'The next message has a result of every call.',
    'https://github.com/anthropics/claude-code/issues/6575',
    (request) => {
      const open = ({ content }: AnthropicMessage, next: AnthropicMessage | undefined) => {
        const answered = new Set(idsOf(next?.content ?? [], 'tool_result', 'tool_use_id'));
        return idsOf(content, 'tool_use', 'id').filter((id) => !answered.has(id));
      };
      const at = someMessage(request, (message, n, all) => open(message, all[n + 1]).length > 0);
      return at === undefined
        ? undefined
        : {
            message: `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
          };
    },
  ),
  rule(
    'orphan-result',
    'A result answers a call of the message before it.',
    'https://github.com/anthropics/claude-code/issues/18947',
    (request) => {
      const at = someMessage(request, ({ content }, n, all) => {
        const asked = new Set(idsOf(all[n - 1]?.content ?? [], 'tool_use', 'id'));
        return idsOf(content, 'tool_result', 'tool_use_id').some((id) => !asked.has(id));
      });
      return at === undefined
        ? undefined
        : {
            message: `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
          };
    },
  ),
  rule('results-first', 'Results come before the other blocks of a message.', TOOL_USE, (request) => {
    const at = someMessage(request, ({ content }) => {
      const other = content.findIndex(({ type }) => type !== 'tool_result');
      return other >= 0 && content.slice(other).some(({ type }) => type === 'tool_result');
    });
    return at === undefined
      ? undefined
      : { message: `messages.${at}: tool_result blocks must come before other content in the message` };
  }),
  rule('call-id-unique', 'Call ids are unique.', 'https://github.com/trycua/cua/issues/524', (request) => {
    const ids = messagesOf(request).flatMap(({ content }) => idsOf(content, 'tool_use', 'id'));
    return new Set(ids).size === ids.length ? undefined : { message: 'messages: `tool_use` ids must be unique' };
  }),
  rule('call-id', 'A call id has letters, digits, _ and - only.', MESSAGES_API, (request) => {
    const ids = messagesOf(request).flatMap(({ content }) => idsOf(content, 'tool_use', 'id'));
    return ids.every((id) => /^[a-zA-Z0-9_-]+$/.test(id))
      ? undefined
      : { message: "messages: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" };
  }),
  rule(
    'blank-text',
    'A text block has a character besides white space.',
    'https://github.com/LibreChat-AI/agents/pull/124',
    (request) =>
      [...systemOf(request), ...messagesOf(request).flatMap(({ content }) => content)].some(isBlank)
        ? { message: 'messages: text content blocks must contain non-whitespace text' }
        : undefined,
  ),
  rule('empty-content', 'A message has a block.', MESSAGES_API, (request) => {
    const at = someMessage(request, ({ content }) => content.length === 0);
    return at === undefined
      ? undefined
      : {
          message: `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
        };
  }),
  rule(
    'prefill',
    'From Claude 4.6 on, the last message is of the user.',
    'https://github.com/agenticloops-ai/agentic-ai-engineering/issues/43',
    (request) =>
      generation(request) >= 4.6 && request.messages.at(-1)?.role === 'assistant'
        ? {
            message:
              'This model does not support assistant message prefill. The conversation must end with a user message.',
          }
        : undefined,
  ),
  rule(
    'thinking-signature',
    'A thinking block has its signature.',
    'https://github.com/langchain-ai/langchain/pull/29971',
    (request) => {
      const at = someMessage(request, ({ content }) =>
        content.some(({ type, signature }) => type === 'thinking' && !signature),
      );
      return at === undefined ? undefined : { message: `messages.${at}.content.0.thinking.signature: Field required` };
    },
  ),
  rule(
    'surrogates',
    'Every text is well-formed Unicode.',
    'https://github.com/anthropics/claude-code/issues/60394',
    (request) =>
      unpairedSurrogate(request) === undefined
        ? undefined
        : { message: 'The request body is not valid JSON: no low surrogate in string: line 1 column 1 (char 0)' },
  ),
];

const TOOL_RULES: readonly ProviderRule[] = [
  rule('tool-name', 'A tool name has 1 to 128 of a-z, A-Z, 0-9, _ and -.', TOOL_USE, (request) => {
    const tool = anthropicTools(request).find(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name));
    return tool && { message: `tools.${tool.at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'` };
  }),
  rule('schema-object', "A tool's schema has type object at the top.", TOOL_USE, (request) => {
    const tool = anthropicTools(request).find(({ schema }) => schema['type'] !== 'object');
    return tool && { message: `tools.${tool.at}.custom.input_schema.type: Input should be 'object'` };
  }),
  rule(
    'schema-root-union',
    "A tool's schema has no anyOf, oneOf or allOf at the top.",
    'https://github.com/langchain-ai/langchain/issues/39271',
    (request) => {
      const tool = anthropicTools(request).find(({ schema }) => UNIONS.some((key) => key in schema));
      return (
        tool && {
          message: `tools.${tool.at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
        }
      );
    },
  ),
  rule(
    'property-name',
    'A property of a tool has 1 to 64 of a-z, A-Z, 0-9, _, . and -.',
    'https://github.com/anthropics/claude-code/issues/79418',
    (request) => {
      const tool = anthropicTools(request).find(({ schema: { properties } }) =>
        Object.keys(isNode(properties) ? properties : {}).some((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key)),
      );
      return (
        tool && {
          message: `tools.${tool.at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
        }
      );
    },
  ),
  rule(
    'strict-tools',
    'A request has at most 20 strict tools, and their objects are closed.',
    STRUCTURED,
    ({ tools = [] }) => {
      const strict = (tools as readonly { strict?: unknown; input_schema?: unknown }[]).filter((tool) => tool.strict);
      if (strict.length > 20) return { message: 'Schemas contain too many strict tools (maximum: 20).' };
      const isClosed = strict.every(({ input_schema: schema }) =>
        schemaNodes(schema).every(({ node }) => isStrict(node)),
      );
      return isClosed
        ? undefined
        : { message: "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false" };
    },
  ),
  rule(
    'forced-call',
    'A request that thinks forces no call.',
    'https://github.com/can1357/oh-my-pi/issues/341',
    ({ thinking, tool_choice }) =>
      isNode(thinking) &&
      thinking['type'] !== 'disabled' &&
      isNode(tool_choice) &&
      ['any', 'tool'].includes(String(tool_choice['type']))
        ? { message: 'Thinking may not be enabled when tool_choice forces tool use.' }
        : undefined,
  ),
];

const PARAMETER_RULES: readonly ProviderRule[] = [
  rule('max-tokens', 'A request has max_tokens.', MESSAGES_API, ({ max_tokens }) =>
    typeof max_tokens === 'number' && max_tokens >= 1 ? undefined : { message: 'max_tokens: Field required' },
  ),
  rule(
    'temperature-deprecated',
    'From Claude 4.7 on, a request has no temperature and no top_p.',
    'https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721',
    (request) => {
      const name = ['temperature', 'top_p'].find((one) => request[one] !== undefined);
      return generation(request) >= 4.7 && name !== undefined
        ? { message: `\`${name}\` is deprecated for this model.` }
        : undefined;
    },
  ),
  rule(
    'temperature-and-top-p',
    'From Claude 4.1 on, a request has a temperature or top_p, not both.',
    'https://github.com/BerriAI/litellm/issues/15097',
    (request) =>
      generation(request) >= 4.1 && request['temperature'] !== undefined && request['top_p'] !== undefined
        ? { message: '`temperature` and `top_p` cannot both be specified for this model. Please use only one.' }
        : undefined,
  ),
  rule('temperature', 'The temperature is 1 at most.', MESSAGES_API, ({ temperature }) =>
    typeof temperature === 'number' && temperature > 1
      ? { message: 'temperature: Input should be less than or equal to 1' }
      : undefined,
  ),
  rule('unknown-fields', 'A request has no field of another API.', MESSAGES_API, (request) => {
    const field = Object.keys(request).find((name) => !FIELDS.has(name));
    return field === undefined ? undefined : { message: `${field}: Extra inputs are not permitted` };
  }),
  rule('image-limits', 'A request has at most 100 images, each of at most 5 MB in base64.', VISION, (request) => {
    const images = anthropicImages(request);
    return images.length > 100 || images.some(({ data }) => data.length > 5_242_880)
      ? { message: 'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum' }
      : undefined;
  }),
  rule(
    'image-type',
    'An inline image is PNG, JPEG, GIF or WebP, as its media type says.',
    'https://github.com/anthropics/claude-code/issues/13131',
    (request) => {
      const wrong = anthropicImages(request).find(
        ({ mediaType, data }) => data !== '' && !(MAGIC[mediaType] && data.startsWith(MAGIC[mediaType])),
      );
      return (
        wrong && {
          message: `messages.0.content.0.image.source.base64.data: Image does not match the provided media type ${wrong.mediaType}`,
        }
      );
    },
  ),
];

export const ANTHROPIC_RULES = [...MESSAGE_RULES, ...TOOL_RULES, ...PARAMETER_RULES];
