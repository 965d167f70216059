import type { FakeRequest } from '../fake-llm.types.js';
import { emptyMessage, pairFault } from './chat-faults.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { callsOf, imagesIn, isEmpty, isNode } from './request-parts.js';
import { wrongName, wrongSchema } from './tool-faults.js';

/** Google wraps the error of its compatible endpoint in a list. */
const rule = rulesOf(['gemini'], ({ message, status = 400 }: Fault) => [
  { error: { code: status, message, status: 'INVALID_ARGUMENT' } },
]);

const SIGNING = /^gemini-[3-9]/;
const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
/** Keywords that the reports name. */
const UNKNOWN =
  '$schema $ref $defs additionalProperties const examples exclusiveMinimum exclusiveMaximum oneOf propertyNames patternProperties'.split(
    ' ',
  );
const MEDIA_TYPES = /^image\/(?:png|jpeg|webp|heic|heif)$/;
const MAX_IMAGE = Math.ceil((7 * 1024 * 1024) / 3) * 4;

/** The first call of a step of the current turn that has no thought signature. */
function unsigned({ messages }: FakeRequest): string | undefined {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const firsts = messages.slice(start + 1).flatMap((message) => callsOf(message).slice(0, 1));
  return firsts.find((call) => !call.extra_content?.google?.thought_signature)?.function.name;
}

/** Whether a call follows neither the user nor a result. */
function hasEarlyCall({ messages }: FakeRequest): boolean {
  const spoken = messages.filter(({ role }) => role !== 'system');
  return spoken.some((message, at) => {
    if (callsOf(message).length === 0) return false;
    const before = spoken[at - 1]?.role;
    return before !== 'user' && before !== 'tool';
  });
}

export const GEMINI_RULES: readonly ProviderRule[] = [
  rule(
    'thought-signature',
    'From Gemini 3 on, the first call of each step of the current turn has its thought signature.',
    'https://ai.google.dev/gemini-api/docs/thought-signatures',
    (request) => {
      const name = SIGNING.test(request.model) ? unsigned(request) : undefined;
      return name === undefined
        ? undefined
        : { message: `Function call is missing a thought_signature in functionCall parts: ${name}` };
    },
  ),
  rule(
    'call-order',
    'A message with calls follows the user or a result.',
    'https://github.com/google-gemini/gemini-cli/issues/11814',
    (request) =>
      hasEarlyCall(request)
        ? {
            message:
              'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
          }
        : undefined,
  ),
  rule(
    'pairs',
    'The results after a message answer all of its calls.',
    'https://github.com/GoogleCloudPlatform/generative-ai/pull/368',
    (request) =>
      (pairFault(request, 'unanswered') ?? pairFault(request, 'orphan'))
        ? { message: 'Please ensure that function response turn comes immediately after a function call turn.' }
        : undefined,
  ),
  rule(
    'result-name',
    'A tool message has the name of its tool.',
    'https://github.com/NousResearch/hermes-agent/pull/19728',
    ({ messages }) =>
      messages.some(({ role, name }) => role === 'tool' && !name)
        ? { message: 'GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.' }
        : undefined,
  ),
  rule(
    'empty-content',
    'Every message has a content or calls.',
    'https://github.com/langgenius/dify/issues/30566',
    (request) =>
      emptyMessage(request, 'user', 'assistant', 'system') === undefined
        ? undefined
        : {
            message:
              'Unable to submit request because it must include at least one parts field, which describes the prompt input.',
          },
  ),
  rule(
    'contents',
    'A request has a message besides the system message.',
    'https://github.com/Calcium-Ion/new-api-horizon/issues/24',
    ({ messages }) =>
      messages.some(({ role, content }) => role !== 'system' && !isEmpty(content))
        ? undefined
        : { message: 'Unable to submit request because at least one contents field is required.' },
  ),
  rule(
    'schema-type-list',
    'A schema names one type.',
    'https://github.com/Kilo-Org/kilocode/issues/5333',
    (request) => {
      const found = wrongSchema(request, ({ node: { type } }) => Array.isArray(type));
      return (
        found && {
          message: `Invalid JSON payload received. Unknown name "type" at 'tools[0].function_declarations[${found.at}].parameters.${found.path.join('.')}': Proto field is not repeating, cannot start list.`,
        }
      );
    },
  ),
  rule(
    'schema-keywords',
    'A schema has the keywords of OpenAPI 3.0 only.',
    'https://github.com/openswarm-ai/openswarm/issues/24',
    (request) => {
      const found = wrongSchema(request, ({ node }) => Object.keys(node).some((key) => UNKNOWN.includes(key)));
      const key = found && Object.keys(found.node).find((name) => UNKNOWN.includes(name));
      return (
        found && {
          message: `Invalid JSON payload received. Unknown name "${key}" at 'tools[0].function_declarations[${found.at}].parameters': Cannot find field.`,
        }
      );
    },
  ),
  rule(
    'schema-format',
    'A string has the format enum or date-time, if any.',
    'https://github.com/google-gemini/gemini-cli/issues/3178',
    (request) => {
      const found = wrongSchema(
        request,
        ({ node: { type, format } }) =>
          type === 'string' && format !== undefined && format !== 'enum' && format !== 'date-time',
      );
      return (
        found && {
          message: `* GenerateContentRequest.tools[0].function_declarations[${found.at}].parameters.${found.path.join('.')}.format: only 'enum' and 'date-time' are supported for STRING type`,
        }
      );
    },
  ),
  rule(
    'schema-enum',
    'Only a schema of type string has an enum, of strings.',
    'https://github.com/anomalyco/opencode/issues/12784',
    (request) => {
      const found = wrongSchema(
        request,
        ({ node }) =>
          Array.isArray(node['enum']) &&
          (node['type'] !== 'string' || node['enum'].some((value) => typeof value !== 'string')),
      );
      return (
        found && {
          message: `* GenerateContentRequest.tools[0].function_declarations[${found.at}].parameters.${found.path.join('.')}.enum: only allowed for STRING type`,
        }
      );
    },
  ),
  rule(
    'tool-count',
    'A request has at most 512 tools.',
    'https://github.com/google-gemini/gemini-cli/issues/19083',
    ({ tools = [] }) =>
      tools.length > 512
        ? {
            message:
              'The GenerateContentRequest proto is invalid:\n  * tools[0].function_declarations: [FIELD_INVALID] At most 512 function declarations can be specified.',
          }
        : undefined,
  ),
  rule(
    'tool-name',
    'A tool name starts with a letter or _, and has at most 64 of a-z, A-Z, 0-9, _, ., : and -.',
    'https://github.com/kaitranntt/ccs/issues/25',
    (request) => {
      const wrong = wrongName(request, NAME);
      return (
        wrong && {
          message: `The GenerateContentRequest proto is invalid: ${wrong.param}: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore.`,
        }
      );
    },
  ),
  rule(
    'penalties',
    'A request has no frequency_penalty or presence_penalty.',
    'https://github.com/MinLL/SkyrimNet-GamePlugin/issues/77',
    (request) => {
      const name = ['frequency_penalty', 'presence_penalty'].find((one) => request[one] !== undefined);
      return name === undefined
        ? undefined
        : { message: `Invalid JSON payload received. Unknown name "${name}": Cannot find field.` };
    },
  ),
  rule(
    'format-beside-tools',
    'Before Gemini 3, a request with tools has no response format.',
    'https://github.com/Simpleyyt/ai-manus/issues/101',
    ({ model, tools, response_format }) =>
      !SIGNING.test(model) && tools?.length && isNode(response_format) && response_format['type'] !== 'text'
        ? { message: "Function calling with a response mime type: 'application/json' is unsupported" }
        : undefined,
  ),
  rule(
    'image-limits',
    'An image is PNG, JPEG, WebP, HEIC or HEIF, and has at most 7 MB.',
    'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding',
    (request) =>
      imagesIn(request).some(
        ({ mediaType = 'image/png', data = '' }) => !MEDIA_TYPES.test(mediaType) || data.length > MAX_IMAGE,
      )
        ? { message: 'Unable to process input image. Unsupported MIME type.' }
        : undefined,
  ),
];
