import { describe, expect, it } from 'vitest';
import { refusedFields } from './refused-field.parser.js';
import { toStatusFailure } from './wire-failure.mapper.js';

const fieldsOf = (error: unknown, status = 400) =>
  refusedFields(toStatusFailure({ status, headers: new Headers(), text: JSON.stringify({ error }) }));

/** Error bodies as providers send them, with the place of their report. */
const REFUSALS: readonly (readonly [source: string, error: unknown, fields: readonly string[]])[] = [
  [
    'OpenAI, github.com/appatalks/eva-agent/issues/83',
    {
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'unsupported_parameter',
    },
    ['temperature'],
  ],
  [
    'llama.cpp, github.com/ggml-org/llama.cpp/issues/10920',
    { code: 400, message: 'Unsupported param: stream_options', type: 'server_error' },
    ['stream_options'],
  ],
  [
    'Azure, github.com/quelmap-inc/quelmap/issues/4',
    {
      message:
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'unsupported_value',
    },
    ['temperature'],
  ],
  [
    'Azure, github.com/microsoft/semantic-kernel/issues/8189',
    { message: "Unknown parameter: 'stream_options.include_usage'.", code: 'unknown_parameter' },
    ['stream_options'],
  ],
  [
    'Azure, github.com/Pythagora-io/gpt-pilot/issues/1022',
    {
      message:
        'Unrecognized request argument supplied: stream_options. Please contact us through an Azure support request at: https://go.microsoft.com/fwlink/?linkid=2213926 for further questions.',
      type: 'invalid_request_error',
      param: '',
      code: null,
    },
    ['stream_options'],
  ],
  [
    'Azure model inference, github.com/microsoft/semantic-kernel/issues/10510',
    { message: 'Validation error at #/stream_options: Extra inputs are not permitted' },
    ['stream_options'],
  ],
  [
    'Mistral, github.com/nomtek/mistralai_client_dart/issues/44',
    {
      object: 'error',
      message: {
        detail: [
          { type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted', input: 1 },
          { type: 'extra_forbidden', loc: ['body', 'stream_options', 'include_usage'], msg: 'Extra inputs …' },
          { type: 'extra_forbidden', loc: ['body', 'messages', 0, 'user', 'name'], msg: 'Extra inputs …' },
          { type: 'extra_forbidden', loc: ['body', 'tools', 0, 'function', 'strict'], msg: 'Extra inputs …' },
        ],
      },
      type: 'invalid_request_error',
    },
    ['seed', 'stream_options', 'strict'],
  ],
  [
    'vLLM, github.com/vllm-project/vllm/issues/10078',
    {
      object: 'error',
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 64}]",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    ['max_completion_tokens'],
  ],
  [
    'Gemini, github.com/MinLL/SkyrimNet-GamePlugin/issues/77',
    [
      {
        error: {
          code: 400,
          message:
            'Invalid JSON payload received. Unknown name "seed": Cannot find field.\nInvalid JSON payload received. Unknown name "frequency_penalty": Cannot find field.\nInvalid JSON payload received. Unknown name "const" at \'tools[0].function_declarations[5].parameters\': Cannot find field.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    ['seed', 'frequency_penalty'],
  ],
  [
    'Groq, github.com/vercel/ai/pull/1578',
    { message: "property 'stream_options' is unsupported, did you mean 'stream'?", type: 'invalid_request_error' },
    ['stream_options'],
  ],
  [
    'xAI, github.com/n8n-io/n8n/issues/14581',
    'Argument not supported on this model: presencePenalty',
    ['presence_penalty'],
  ],
  [
    'xAI, github.com/open-webui/open-webui/issues/21266',
    'Model grok-4-1-fast-reasoning does not support parameter presencePenalty.',
    ['presence_penalty'],
  ],
  [
    'Fireworks, github.com/FlowiseAI/Flowise/issues/2866',
    { message: "Extra inputs are not permitted, field: 'stream_options', value: {'include_usage': True}" },
    ['stream_options'],
  ],
  [
    'Claude, github.com/szczyglis-dev/py-gpt/pull/184',
    { type: 'invalid_request_error', message: '`temperature` is deprecated for this model.' },
    ['temperature'],
  ],
  [
    'Claude behind a gateway, github.com/infiniflow/ragflow/issues/11815',
    {
      message:
        '{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` and `top_p` cannot both be specified for this model. Please use only one."}}',
    },
    ['top_p'],
  ],
  [
    'Moonshot, github.com/HKUDS/nanobot/pull/202',
    { message: 'invalid temperature: only 1 is allowed for this model', type: 'invalid_request_error' },
    ['temperature'],
  ],
  [
    'Cohere, github.com/OpenRouterTeam/openrouter-examples/issues/71',
    { message: "unknown field: parameter 'strict' is not a valid field. For proper usage, please refer to …" },
    ['strict'],
  ],
  [
    'LiteLLM, docs.litellm.ai/docs/completion/drop_params',
    { message: "azure does not support parameters: ['parallel_tool_calls', 'temperature'], for model=o1." },
    ['parallel_tool_calls', 'temperature'],
  ],
  [
    'DeepSeek, github.com/llm-exe/llm-exe/issues/662',
    { message: 'This response_format type is unavailable now' },
    ['response_format'],
  ],
  [
    'DeepSeek, github.com/browser-use/browser-use/pull/215',
    {
      message:
        'Failed to deserialize the JSON body into the target type: response_format: response_format.type `json_schema` is unavailable now at line 1 column 12440',
    },
    ['response_format'],
  ],
];

describe('the fields that a provider refused', () => {
  it.each(REFUSALS)('are those of the error: %s', (_source, error, fields) => {
    expect(fieldsOf(error)).toEqual(fields);
    expect(fieldsOf(error, 422)).toEqual(fields);
    for (const status of [401, 404, 429, 500]) expect(fieldsOf(error, status)).toEqual([]);
  });

  it.each([
    "Invalid 'messages[0].content': string too long.",
    "An assistant message with 'tool_calls' must be followed by tool messages",
    'messages.65.content.1.tool_use.text: Extra inputs are not permitted',
    "'messages.1' : property 'messages.1.reasoning' is unsupported",
    'max_tokens is too large: 100000. This model supports at most 4096 completion tokens.',
    'Your prompt about temperature was rejected by the content filter.',
    "Invalid schema for function 'pay': 'temperature' is not of type 'object'.",
  ])('exclude errors about content or values: %s', (message) => {
    expect(fieldsOf({ message, type: 'invalid_request_error', param: 'temperature', code: null })).toEqual([]);
  });
});
