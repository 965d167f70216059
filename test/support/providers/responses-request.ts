import { EFFORTS, openAiBody } from './openai.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { isNode, isStrict, schemaNodes, textOf } from './request-parts.js';
import { isVerified, itemsIn, itemsOf } from './responses-parts.js';

const rule = rulesOf(['responses'], openAiBody);

const CREATE = 'https://developers.openai.com/api/reference/resources/responses/methods/create';
/** The fields of a request that Jackdaw may send, of those in the types of the package `openai`. */
const FIELDS = new Set(
  'model input instructions tools tool_choice parallel_tool_calls temperature top_p max_output_tokens text reasoning include store stream stream_options prompt_cache_key prompt_cache_options safety_identifier metadata service_tier truncation'.split(
    ' ',
  ),
);
const REASONING = /^(?:o\d|gpt-[5-9])(?!.*chat)/;

export const unknownParameter = (param: string): Fault => ({
  message: `Unknown parameter: '${param}'.`,
  param,
  code: 'unknown_parameter',
});

const REASONING_RULES: readonly ProviderRule[] = [
  rule(
    'orphan-reasoning',
    'A reasoning item is followed by a message or a call of its reply.',
    'https://github.com/openai/openai-node/issues/1567',
    (request) => {
      const items = itemsIn(request);
      const orphan = items.find(({ type }, at) => type === 'reasoning' && !followsReasoning(items.slice(at + 1)));
      return (
        orphan && {
          message: `Item '${String(orphan.item['id'])}' of type 'reasoning' was provided without its required following item.`,
          param: 'input',
        }
      );
    },
  ),
  rule(
    'reasoning-of-item',
    'A message or call with an id follows the reasoning item of its reply.',
    'https://github.com/continuedev/continue/issues/12620',
    (request) => {
      const items = itemsIn(request);
      const bare = items.find(({ item: { id }, type }, at) => {
        if (id === undefined || type === 'reasoning') return false;
        const turn = items.slice(0, at).findLastIndex(({ item, type: other }) => isOfUser(item, other));
        return !items.slice(turn + 1, at).some(({ type: other }) => other === 'reasoning');
      });
      return (
        bare && {
          message: `Item '${String(bare.item['id'])}' of type '${bare.type}' was provided without its required 'reasoning' item.`,
          param: 'input',
        }
      );
    },
  ),
  rule(
    'encrypted-content',
    'With store false, a reasoning item has its encrypted content.',
    'https://github.com/can1357/oh-my-pi/issues/41',
    (request) => {
      const bare = itemsOf(request, 'reasoning').find(({ item }) => !item['encrypted_content']);
      return request['store'] === false && bare
        ? {
            status: 404,
            message: `Item with id '${String(bare.item['id'])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
            param: 'input',
          }
        : undefined;
    },
  ),
  rule(
    'encrypted-unchanged',
    'Encrypted content is returned unchanged, to the model that wrote it.',
    'https://github.com/openai/codex/issues/8119',
    (request) => {
      const wrong = itemsOf(request, 'reasoning').find(({ item }) => !isVerified(item, request.model));
      return (
        wrong && {
          message: `The encrypted content ${String(wrong.item['encrypted_content']).slice(0, 4)}... could not be verified.`,
          code: 'invalid_encrypted_content',
        }
      );
    },
  ),
  rule(
    'encrypted-include',
    'Only a reasoning model returns encrypted reasoning.',
    'https://github.com/OpenHands/software-agent-sdk/pull/1208',
    ({ model, include }) =>
      !REASONING.test(model) && Array.isArray(include) && include.includes('reasoning.encrypted_content')
        ? { message: 'Encrypted content is not supported with this model.', param: 'include' }
        : undefined,
  ),
  rule(
    'reasoning-field',
    'Only a reasoning model takes reasoning.',
    'https://github.com/openai/openai-python/issues/2194',
    ({ model, reasoning }) => {
      const name = isNode(reasoning) ? `reasoning.${Object.keys(reasoning)[0]}` : 'reasoning';
      return !REASONING.test(model) && reasoning !== undefined
        ? {
            message: `Unsupported parameter: '${name}' is not supported with this model.`,
            param: name,
            code: 'unsupported_parameter',
          }
        : undefined;
    },
  ),
  rule(
    'effort-level',
    'GPT-5 takes the effort minimal, low, medium or high, and GPT-5.1 none instead of minimal.',
    'https://github.com/openai/openai-agents-python/issues/2089',
    ({ model, reasoning }) => {
      const effort = isNode(reasoning) ? reasoning['effort'] : undefined;
      const levels = EFFORTS.find(([name]) => name.test(model))?.[1];
      if (effort === undefined || !levels || levels.some((level) => level === effort)) return undefined;
      const message = `Unsupported value: '${textOf(effort)}' is not supported with the '${model}' model. Supported values are: ${levels.map((level) => `'${level}'`).join(', ')}.`;
      return { message, param: 'reasoning.effort', code: 'unsupported_value' };
    },
  ),
];

const PARAMETER_RULES: readonly ProviderRule[] = [
  rule('unknown-fields', 'A request has no field of another API.', CREATE, (request) => {
    const field = Object.keys(request).find((name) => !FIELDS.has(name));
    return field === undefined ? undefined : unknownParameter(field);
  }),
  rule(
    'max-output-tokens',
    'The limit of a reply is at least 16 tokens.',
    'https://github.com/vectorize-io/hindsight/issues/58',
    ({ max_output_tokens: most }) =>
      typeof most === 'number' && most < 16
        ? {
            message: `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${most} instead.`,
            param: 'max_output_tokens',
            code: 'integer_below_min_value',
          }
        : undefined,
  ),
  rule(
    'sampling',
    'A reasoning model takes no temperature and no top_p.',
    'https://developers.openai.com/api/docs/guides/reasoning',
    (request) => {
      const name = ['temperature', 'top_p'].find((one) => request[one] !== undefined);
      return name !== undefined && REASONING.test(request.model)
        ? {
            message: `Unsupported parameter: '${name}' is not supported with this model.`,
            param: name,
            code: 'unsupported_parameter',
          }
        : undefined;
    },
  ),
  rule(
    'json-word',
    'With the format json_object, the input contains the word JSON.',
    'https://developers.openai.com/api/docs/guides/structured-outputs',
    (request) => {
      const format = isNode(request['text']) ? request['text']['format'] : undefined;
      const isJson = isNode(format) && format['type'] === 'json_object';
      return isJson && !itemsIn(request).some(({ item }) => /json/i.test(textOf(item['content'])))
        ? {
            message:
              "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
            param: 'input',
          }
        : undefined;
    },
  ),
  rule('tool-form', 'A function tool has its name beside its type, not in a function.', CREATE, ({ tools = [] }) => {
    const at = tools.findIndex((tool) => typeof (tool as { name?: unknown }).name !== 'string');
    return at < 0
      ? undefined
      : {
          message: `Missing required parameter: 'tools[${at}].name'.`,
          param: `tools[${at}].name`,
          code: 'missing_required_parameter',
        };
  }),
  rule(
    'strict-schema',
    'A tool is strict unless it says otherwise: its objects are closed, and their properties required.',
    'https://developers.openai.com/api/docs/guides/function-calling',
    ({ tools = [] }) => {
      const wrong = (tools as readonly { name?: string; parameters?: unknown; strict?: unknown }[]).find(
        ({ parameters, strict }) => strict !== false && !schemaNodes(parameters).every(({ node }) => isStrict(node)),
      );
      return (
        wrong && {
          message: `Invalid schema for function '${wrong.name}': In context=(), 'additionalProperties' is required to be supplied and to be false.`,
          param: 'tools[0].parameters',
          code: 'invalid_function_parameters',
        }
      );
    },
  ),
];

/** Rules for reasoning items and for the other fields of a request. */
export const RESPONSES_REQUEST_RULES = [...REASONING_RULES, ...PARAMETER_RULES];

function followsReasoning(rest: ReturnType<typeof itemsIn>): boolean {
  const next = rest.find(({ type }) => type !== 'reasoning');
  return next !== undefined && (next.type === 'function_call' || next.item['role'] === 'assistant');
}

function isOfUser(item: Readonly<Record<string, unknown>>, type: string): boolean {
  return type === 'function_call_output' || (type === 'message' && item['role'] !== 'assistant');
}
