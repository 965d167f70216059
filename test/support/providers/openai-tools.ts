import { openAiBody, tooLong } from './openai.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { isNode, toolsIn } from './request-parts.js';
import { UNIONS, wrongName, wrongRoot, wrongSchema } from './tool-faults.js';

const rule = rulesOf(['openai', 'azure'], openAiBody);
const azureRule = rulesOf(['azure'], openAiBody);

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function badSchema(tool: { at: number; name: string }, reason: string): Fault {
  return {
    message: `Invalid schema for function '${tool.name}': ${reason}`,
    param: `tools[${tool.at}].function.parameters`,
    code: 'invalid_function_parameters',
  };
}

function context(path: readonly string[]): string {
  return `In context=(${path.map((part) => `'${part}'`).join(', ')})`;
}

/** Rules of OpenAI and Azure for tools. */
export const OPENAI_TOOL_RULES: readonly ProviderRule[] = [
  rule(
    'tool-count',
    'A request has at most 128 tools.',
    'https://github.com/vishalmysore/Tools4AI/issues/16',
    ({ tools = [] }) =>
      tools.length > 128
        ? {
            message: `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
            param: 'tools',
            code: 'array_above_max_length',
          }
        : undefined,
  ),
  rule(
    'tool-name',
    'Names of tools and of called tools have 1 to 64 of a-z, A-Z, 0-9, _ and -.',
    'https://platform.openai.com/docs/api-reference/chat/create',
    (request) => {
      const wrong = wrongName(request, NAME);
      if (!wrong) return undefined;
      if (wrong.name.length > 64) return tooLong(wrong.param, 64, wrong.name.length);
      const message = `Invalid '${wrong.param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
      return { message, param: wrong.param, code: 'invalid_value' };
    },
  ),
  rule(
    'schema-object',
    "A tool's schema has type object at the top.",
    'https://github.com/langchain-ai/langchain/issues/39271',
    (request) => {
      const tool = wrongRoot(request, ({ type }) => type !== 'object');
      return (
        tool &&
        badSchema(
          tool,
          `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(tool.schema['type'])}"'.`,
        )
      );
    },
  ),
  rule(
    'schema-properties',
    "A tool's schema has properties at the top.",
    'https://github.com/github/github-mcp-server/issues/1548',
    (request) => {
      const tool = wrongRoot(request, ({ type, properties }) => type === 'object' && !isNode(properties));
      return tool && badSchema(tool, 'In context=(), object schema missing properties.');
    },
  ),
  rule(
    'schema-root-union',
    "A tool's schema has no anyOf, oneOf, allOf, enum or not at the top.",
    'https://github.com/langchain-ai/langchain/issues/39271',
    (request) => {
      const tool = wrongRoot(request, (schema) => [...UNIONS, 'enum', 'not'].some((key) => key in schema));
      return (
        tool &&
        badSchema(
          tool,
          "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
        )
      );
    },
  ),
  rule(
    'schema-array-items',
    "An array in a tool's schema has items.",
    'https://github.com/digitalocean-labs/mcp-digitalocean/issues/265',
    (request) => {
      const found = wrongSchema(
        request,
        ({ node: { type, items } }) =>
          (type === 'array' || (Array.isArray(type) && type.includes('array'))) && items === undefined,
      );
      return found && badSchema(found, `${context(found.path)}, array schema missing items.`);
    },
  ),
  rule(
    'tool-choice-without-tools',
    'A request without tools has no tool_choice.',
    'https://github.com/writer/writer-framework/pull/1013',
    ({ tools, tool_choice }) =>
      tool_choice !== undefined && !tools?.length
        ? {
            message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
            param: 'tool_choice',
          }
        : undefined,
  ),
  azureRule(
    'tool-description',
    "A tool's description has at most 1024 characters.",
    'https://github.com/OpenHands/OpenHands/issues/4838',
    (request) => {
      const tool = toolsIn(request).find(({ description }) => description.length > 1024);
      return tool && tooLong(`tools[${tool.at}].function.description`, 1024, tool.description.length);
    },
  ),
];
