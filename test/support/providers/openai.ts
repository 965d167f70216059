import type { FakeRequest } from '../fake-llm.types.js';
import { pairFault, wrongCallId } from './chat-faults.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { imagesIn, isNode, isStrict, schemaNodes, textOf } from './request-parts.js';

/** The error body of OpenAI's API, and of most servers that copy it. */
export function openAiBody({ message, param, code }: Fault): unknown {
  return { error: { message, type: 'invalid_request_error', param: param ?? null, code: code ?? null } };
}

const rule = rulesOf(['openai', 'azure'], openAiBody);

/** Reasoning models; a deployment on Azure may have any name. */
const REASONING = /^(?:o\d|gpt-[5-9])(?!.*chat)|^prod-chat$/;
const REASONING_BESIDE_TOOLS = /^gpt-(?:5\.[5-9]|[6-9])/;
export const EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^gpt-5\.1(?:-2|$)/, ['none', 'low', 'medium', 'high']],
  [/^gpt-5(?:-mini|-nano|-2|$)/, ['minimal', 'low', 'medium', 'high']],
];
const MAX_IMAGE = 20 * 1024 * 1024;

function reasons({ model }: FakeRequest): boolean {
  return REASONING.test(model);
}

export function tooLong(param: string, most: number, length: number): Fault {
  const message = `Invalid '${param}': string too long. Expected a string with maximum length ${most}, but got a string with length ${length} instead.`;
  return { message, param, code: 'string_above_max_length' };
}

const MESSAGE_RULES: readonly ProviderRule[] = [
  rule(
    'messages-empty',
    'A request has at least one message.',
    'https://platform.openai.com/docs/api-reference/chat/create',
    ({ messages }) =>
      messages.length === 0
        ? {
            message:
              "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param: 'messages',
            code: 'empty_array',
          }
        : undefined,
  ),
  rule(
    'unanswered-call',
    'Tool messages answer every call before the next message.',
    'https://github.com/Abraxas-365/langchain-rust/pull/250',
    (request) => {
      const fault = pairFault(request, 'unanswered');
      return (
        fault && {
          message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${fault.id}`,
          param: `messages.[${fault.at}].role`,
        }
      );
    },
  ),
  rule(
    'orphan-result',
    'A tool message answers a call of the assistant message before it.',
    'https://github.com/simonw/llm/issues/937',
    (request) => {
      const fault = pairFault(request, 'orphan');
      return (
        fault && {
          message:
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          param: `messages.[${fault.at}].role`,
        }
      );
    },
  ),
  rule(
    'content-null',
    'A message without calls has a content.',
    'https://github.com/langchain-ai/langchainjs/issues/4153',
    ({ messages }) => {
      const at = messages.findIndex(({ content, tool_calls }) => (content ?? null) === null && !tool_calls?.length);
      return at < 0
        ? undefined
        : { message: "Invalid value for 'content': expected a string, got null.", param: `messages.[${at}].content` };
    },
  ),
  rule(
    'call-id-length',
    'A call id has at most 40 characters.',
    'https://github.com/agno-agi/agno/issues/5382',
    (request) => {
      const found = wrongCallId(request, /^[^]{1,40}$/);
      return found && tooLong(`messages[${found.at}].tool_calls[0].id`, 40, found.id.length);
    },
  ),
  rule(
    'image-limits',
    'A request has at most 500 images, each PNG, JPEG, GIF or WebP and at most 20 MB.',
    'https://developers.openai.com/api/docs/guides/images-vision',
    (request) => {
      const images = imagesIn(request);
      const isWrong = images.some(
        ({ mediaType, data = '' }) =>
          (mediaType !== undefined && !/^image\/(?:png|jpeg|gif|webp)$/.test(mediaType)) || data.length > MAX_IMAGE,
      );
      return isWrong || images.length > 500
        ? {
            message:
              "You uploaded an unsupported image. Please make sure your image is valid and has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
            code: 'invalid_image_format',
          }
        : undefined;
    },
  ),
];

const PARAMETER_RULES: readonly ProviderRule[] = [
  rule(
    'max-tokens-name',
    'A reasoning model takes max_completion_tokens, not max_tokens.',
    'https://github.com/owndev/Open-WebUI-Functions/issues/136',
    (request) =>
      reasons(request) && request['max_tokens'] !== undefined
        ? {
            message:
              "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            param: 'max_tokens',
            code: 'unsupported_parameter',
          }
        : undefined,
  ),
  rule(
    'temperature',
    'A reasoning model takes no temperature but 1.',
    'https://github.com/confident-ai/deepeval/issues/3015',
    (request) =>
      reasons(request) && (request['temperature'] ?? 1) !== 1
        ? {
            message: `Unsupported value: 'temperature' does not support ${String(request['temperature'])} with this model. Only the default (1) value is supported.`,
            param: 'temperature',
            code: 'unsupported_value',
          }
        : undefined,
  ),
  rule(
    'sampling',
    'A reasoning model takes no top_p, penalties or stop sequences.',
    'https://developers.openai.com/api/docs/guides/reasoning',
    (request) => {
      const names = ['top_p', 'presence_penalty', 'frequency_penalty', 'stop'];
      const name = reasons(request) ? names.find((one) => request[one] !== undefined) : undefined;
      const message = `Unsupported parameter: '${name}' is not supported with this model.`;
      return name === undefined ? undefined : { message, param: name, code: 'unsupported_parameter' };
    },
  ),
  rule(
    'reasoning-beside-tools',
    'From GPT-5.5 on, a request with tools has the reasoning effort none.',
    'https://github.com/BerriAI/litellm/issues/34569',
    ({ model, tools, reasoning_effort }) =>
      REASONING_BESIDE_TOOLS.test(model) && tools?.length && reasoning_effort !== 'none'
        ? {
            message: `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
            param: 'reasoning_effort',
          }
        : undefined,
  ),
  rule(
    'effort-model',
    'A model that does not reason takes no reasoning_effort.',
    'https://github.com/generative-computing/mellea/issues/270',
    (request) =>
      request['reasoning_effort'] !== undefined && /^(?:gpt-[34]|chatgpt)/.test(request.model)
        ? { message: 'Unrecognized request argument supplied: reasoning_effort' }
        : undefined,
  ),
  rule(
    'effort-level',
    'GPT-5 takes the effort minimal, low, medium or high, and GPT-5.1 none instead of minimal.',
    'https://github.com/openai/openai-agents-python/issues/2089',
    ({ model, reasoning_effort: effort }) => {
      const levels = EFFORTS.find(([name]) => name.test(model))?.[1];
      if (effort === undefined || !levels || levels.some((level) => level === effort)) return undefined;
      const message = `Unsupported value: '${textOf(effort)}' is not supported with the '${model}' model. Supported values are: ${levels.map((level) => `'${level}'`).join(', ')}.`;
      return { message, param: 'reasoning_effort', code: 'unsupported_value' };
    },
  ),
  rule(
    'stop-count',
    'A request has at most four stop sequences.',
    'https://help.openai.com/en/articles/5072263-how-do-i-use-stop-sequences-in-the-openai-api',
    ({ stop }) =>
      Array.isArray(stop) && stop.length > 4
        ? {
            message: `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stop.length} instead.`,
            param: 'stop',
            code: 'array_above_max_length',
          }
        : undefined,
  ),
  rule(
    'json-word',
    'With response_format json_object, the messages contain the word JSON.',
    'https://developers.openai.com/api/docs/guides/structured-outputs',
    ({ response_format, messages }) =>
      isNode(response_format) &&
      response_format['type'] === 'json_object' &&
      !messages.some(({ content }) => /json/i.test(textOf(content)))
        ? {
            message:
              "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            param: 'messages',
          }
        : undefined,
  ),
];

const STRICT_RULES: readonly ProviderRule[] = [
  rule(
    'strict-schema',
    'The objects of a strict tool are closed, and their properties required.',
    'https://github.com/AreevAI/areev/pull/244',
    ({ tools = [] }) => {
      const wrong = tools.find(({ function: called }) => {
        const { strict, parameters } = called as { readonly strict?: unknown; readonly parameters: unknown };
        return strict === true && !schemaNodes(parameters).every(({ node }) => isStrict(node));
      });
      return (
        wrong && {
          message: `Invalid schema for function '${wrong.function.name}': In context=(), 'additionalProperties' is required to be supplied and to be false.`,
          param: 'tools[0].function.parameters',
          code: 'invalid_function_parameters',
        }
      );
    },
  ),
];

/** Rules for messages and parameters; those for tools are in `openai-tools.ts`. */
export const OPENAI_RULES = [...MESSAGE_RULES, ...PARAMETER_RULES, ...STRICT_RULES];
