import type { FakeRequest } from '../fake-llm.types.js';
import { emptyMessage } from './chat-faults.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { callsOf, forcesCall, isNode, toolsIn, type JsonNode } from './request-parts.js';
import { wrongRoot, wrongSchema } from './tool-faults.js';

const rule = rulesOf(['moonshot'], ({ message }: Fault) => ({ error: { message, type: 'invalid_request_error' } }));

/** Models that think by default. */
const THINKING = /^kimi-(?:k2\.[5-9]|k[3-9]|k2-thinking)/;
const TYPED = ['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'];

function thinks({ model }: FakeRequest): boolean {
  return THINKING.test(model);
}

function notFlavored(path: readonly string[], reason: string): Fault {
  const place = path.length === 0 ? 'root' : path.join('.');
  return {
    message: `tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '${place}': ${reason}>`,
  };
}

/** A required property that the schema does not define. */
function undefinedProperty({ required, properties }: JsonNode): string | undefined {
  if (!Array.isArray(required)) return undefined;
  return (required as string[]).find((name) => !isNode(properties) || properties[name] === undefined);
}

const TOO_DEEP =
  'Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: schema depth exceeds maximum limit of 10';

/** The nesting of schemas, from 1. */
function levelsOf(schema: unknown, level = 1): number {
  if (!isNode(schema)) return 0;
  const { anyOf = [], properties = {}, items } = schema;
  const inner = [...Object.values(anyOf as object), ...Object.values(properties as object), items];
  return Math.max(level, ...inner.map((one) => levelsOf(one, level + 1)));
}

export const MOONSHOT_RULES: readonly ProviderRule[] = [
  rule(
    'empty-assistant',
    'An assistant message has a content or calls.',
    'https://github.com/AstrBotDevs/AstrBot/issues/7200',
    (request) => {
      const at = emptyMessage(request, 'assistant');
      return at === undefined
        ? undefined
        : { message: `Invalid request: the message at position ${at} with role 'assistant' must not be empty` };
    },
  ),
  rule('empty-user', 'A user message has a content.', 'https://github.com/lobehub/lobehub/pull/8419', (request) => {
    const at = emptyMessage(request, 'user');
    return at === undefined
      ? undefined
      : { message: `Invalid request: the message at position ${at} with role 'user' must not be empty` };
  }),
  rule(
    'reasoning-echo',
    'A thinking model gets the reasoning_content of every message with calls.',
    'https://github.com/bytedance/deer-flow/issues/3043',
    (request) => {
      const at = request.messages.findIndex(
        (message) => callsOf(message).length > 0 && message.reasoning_content === undefined,
      );
      return at < 0 || !thinks(request)
        ? undefined
        : {
            message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
          };
    },
  ),
  rule(
    'temperature',
    'A thinking model takes no temperature but 1.',
    'https://github.com/NousResearch/hermes-agent/issues/9125',
    (request) =>
      thinks(request) && (request['temperature'] ?? 1) !== 1
        ? { message: 'invalid temperature: only 1 is allowed for this model' }
        : undefined,
  ),
  rule(
    'top-p',
    'A thinking model takes no top_p but 0.95.',
    'https://github.com/iOfficeAI/gemini-cli-pro/pull/30',
    (request) =>
      thinks(request) && (request['top_p'] ?? 0.95) !== 0.95
        ? { message: 'invalid top_p: only 0.95 is allowed for this model' }
        : undefined,
  ),
  rule(
    'forced-call',
    'A request to a thinking model forces no call.',
    'https://github.com/can1357/oh-my-pi/issues/827',
    (request) =>
      thinks(request) && forcesCall(request)
        ? { message: "tool_choice 'specified' is incompatible with thinking enabled" }
        : undefined,
  ),
  rule(
    'tool-name',
    'The name of a tool starts with a letter.',
    'https://github.com/MoonshotAI/kimi-cli/issues/2531',
    (request) => {
      const tool = toolsIn(request).find(({ name }) => !/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(name));
      return (
        tool && {
          message: `Invalid request: function name is invalid, must start with a letter and can contain letters, numbers, underscores, and dashes: ${tool.name}`,
        }
      );
    },
  ),
  rule(
    'tool-count',
    'A request has at most 128 tools.',
    'https://platform.moonshot.ai/docs/api/tool-use',
    ({ tools = [] }) =>
      tools.length > 128 ? { message: 'Invalid request: the number of tools exceeds the limit of 128' } : undefined,
  ),
  rule(
    'schema-depth',
    "A tool's schema is nested at most 10 levels deep.",
    'https://github.com/anomalyco/opencode/issues/25495',
    (request) =>
      toolsIn(request).some(({ parameters }) => levelsOf(parameters) > 10) ? { message: TOO_DEEP } : undefined,
  ),
  rule(
    'schema-object',
    "A tool's schema has type object at the top.",
    'https://github.com/14790897/MiqroForge-Desktop/issues/1165',
    (request) =>
      wrongRoot(request, ({ type }) => type !== 'object') && {
        message: 'tools.function.parameters.type is required and must be "object"',
      },
  ),
  rule(
    'schema-union-type',
    'A schema with anyOf has its type in the items of anyOf.',
    'https://github.com/MoonshotAI/kimi-cli/issues/2531',
    (request) => {
      const found = wrongSchema(request, ({ node }) => 'anyOf' in node && 'type' in node);
      return (
        found &&
        notFlavored(found.path, 'when using anyOf, type should be defined in anyOf items instead of the parent schema')
      );
    },
  ),
  rule(
    'schema-type',
    'Every schema of a tool has a type, a union or an enum.',
    'https://github.com/earendil-works/pi/issues/4138',
    (request) => {
      const found = wrongSchema(request, ({ node }) => !TYPED.some((key) => key in node));
      return found && notFlavored(found.path, 'type is not defined');
    },
  ),
  rule(
    'schema-required',
    'A schema defines its required properties.',
    'https://github.com/MoonshotAI/kimi-code/issues/1610',
    (request) => {
      const found = wrongSchema(request, ({ node }) => undefinedProperty(node) !== undefined);
      return (
        found &&
        notFlavored(
          [...found.path, 'required'],
          `required property '${undefinedProperty(found.node)}' is not defined in properties`,
        )
      );
    },
  ),
];
