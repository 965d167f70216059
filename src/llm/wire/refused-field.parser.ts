import type { StatusError } from './wire-failure.error.js';

/** Maximum length of a provider's message to search, in UTF-16 units. */
const MAX_READ = 20_000;

/** A form of refusal; each match names one field, or several in a list. */
interface RefusalForm {
  readonly source: string;
  readonly form: RegExp;
}

/** The forms in which providers refuse a field; `name` is the field or its path, `at` the path of its object. */
const FORMS: readonly RefusalForm[] = [
  {
    // OpenAI, Azure, and gateways before them.
    source: 'https://github.com/quelmap-inc/quelmap/issues/4',
    form: /(?:Unsupported|Unknown) (?:parameter|value): '(?<name>[^']{1,200})'/g,
  },
  {
    // llama.cpp, and servers that copy the texts of OpenAI without the quotes.
    source: 'https://github.com/ggml-org/llama.cpp/issues/10920',
    form: /(?:Unsupported|Unknown|Unexpected) (?:param|parameter|argument|field): [`"]?(?!parameter )(?<name>\w[\w.]{0,199})/gi,
  },
  {
    // Older APIs of OpenAI and Azure.
    source: 'https://github.com/Pythagora-io/gpt-pilot/issues/1022',
    form: /Unrecognized request arguments? supplied: (?<name>\w+(?:, \w+)*)/g,
  },
  {
    // Mistral and vLLM: JSON, or the text of a Python object.
    source: 'https://github.com/vllm-project/vllm/issues/10078',
    form: /["']type["']: ?["']extra_forbidden["'], ?["']loc["']: ?[[(](?<name>[^\])]{1,500})[\])]/g,
  },
  {
    source: 'https://github.com/jackmpcollins/magentic/pull/382',
    form: /Unknown name "(?<name>\w+)"(?: at '(?<at>[^']{1,500})')?: Cannot find field/g,
  },
  {
    // Groq.
    source: 'https://github.com/vercel/ai/pull/1578',
    form: /property '(?<name>[^']{1,200})' is unsupported/g,
  },
  {
    // xAI, with its own spelling of the fields.
    source: 'https://github.com/open-webui/open-webui/issues/21266',
    form: /(?:Argument not supported on this model:|does not support parameter) (?<name>\w+)/g,
  },
  {
    // Fireworks.
    source: 'https://github.com/FlowiseAI/Flowise/issues/2866',
    form: /Extra inputs are not permitted, field: '(?<name>[^']{1,200})'/g,
  },
  {
    // Anthropic and Bedrock; Azure's model inference API.
    source: 'https://github.com/microsoft/semantic-kernel/issues/10510',
    form: /(?<name>[\w./]{1,200}): Extra inputs are not permitted/g,
  },
  {
    // Claude without sampling parameters.
    source: 'https://github.com/szczyglis-dev/py-gpt/pull/184',
    form: /`(?<name>\w+)` is deprecated for this model/g,
  },
  {
    source: 'https://github.com/BerriAI/litellm/issues/15097',
    form: /`temperature` and `(?<name>top_p)` cannot both be specified/g,
  },
  {
    // Moonshot.
    source: 'https://github.com/HKUDS/nanobot/pull/202',
    form: /invalid (?<name>\w+): only \S{1,20} is allowed for this model/g,
  },
  {
    // Cohere.
    source: 'https://github.com/OpenRouterTeam/openrouter-examples/issues/71',
    form: /parameter '(?<name>\w+)' is not a valid field/g,
  },
  {
    // LiteLLM.
    source: 'https://docs.litellm.ai/docs/completion/drop_params',
    form: /does not support parameters: \[(?<name>[^\]]{1,500})\]/g,
  },
  {
    // Servers that deserialise strictly, in Rust and in Go.
    source: 'https://serde.rs/container-attrs.html#deny_unknown_fields',
    form: /unknown field [`"](?<name>\w+)[`"]/g,
  },
  {
    // Claude: "This model does not support the effort parameter."
    source: 'https://github.com/anthropics/claude-code/issues/30795',
    form: /does not support the (?<name>effort) parameter/g,
  },
  {
    // Ollama: `"llama3" does not support thinking`.
    source: 'https://github.com/DevEmperor/DictateKeyboard/issues/186',
    form: /does not support (?<name>thinking)/g,
  },
  {
    // Claude: '"thinking.type.disabled" is not supported for this model.'
    source: 'https://platform.claude.com/docs/en/models/opus-5-5/migration-guide',
    form: /"(?<name>thinking)\.type\.\w+" is not supported for this model/g,
  },
  {
    // Ollama: "invalid reasoning value: 'minimal' (must be …)".
    source: 'https://github.com/DevEmperor/DictateKeyboard/issues/186',
    form: /invalid (?<name>reasoning) value/g,
  },
  {
    // DeepSeek.
    source: 'https://github.com/BerriAI/litellm/pull/31466',
    form: /(?<name>response_format)(?:\.type)?(?: type| `\w+`)? is unavailable now/g,
  },
];

/** A model without reasoning (github.com/OpenHands/software-agent-sdk/pull/1208). */
const NO_ENCRYPTION = /Encrypted content is not supported/i;

/** The forms in which providers and gateways name a missing field of the body. */
const MISSING_FORMS: readonly RefusalForm[] = [
  {
    // Anthropic, and gateways in front of it.
    source: 'https://github.com/sigoden/aichat/issues/872',
    form: /(?<![\w.])["'`]?(?<name>\w{1,100})["'`]?: (?:Field required|is required|missing)/gi,
  },
  {
    source: 'https://platform.openai.com/docs/guides/error-codes',
    form: /Missing required (?:parameter|argument|field): ["'`]?(?<name>\w{1,100})/gi,
  },
  {
    // FastAPI, as in vLLM and LiteLLM: JSON, or the text of a Python object.
    source: 'https://docs.pydantic.dev/latest/errors/validation_errors/#missing',
    form: /["']type["']: ?["']missing["'], ?["']loc["']: ?[[(](?<name>[^\])]{1,500})[\])]/g,
  },
  {
    source: 'https://github.com/ericc-ch/copilot-api/issues/6',
    form: /["'`]?(?<name>\w{1,100})["'`]? (?:is required|is a required (?:field|parameter))/gi,
  },
];

/** Fields of messages that a gateway has sent, and that a provider behind it may refuse. */
export const RETURNED_FIELDS: readonly string[] = [
  'reasoning_details',
  'thinking_blocks',
  'provider_specific_fields',
  'thought_signature',
];

/** Mark of a block that a provider caches; a refusal names its path. */
export const CACHE_CONTROL = 'cache_control';
/** The field for summaries of reasoning, which OpenAI refuses to organizations without verification. */
export const SUMMARY = 'reasoning.summary';

/** Codes of OpenAI's errors whose `param` is a field that the model does not take. */
const REFUSING_CODES: readonly unknown[] = ['unsupported_parameter', 'unsupported_value', 'unknown_parameter'];

/**
 * The fields of the request body that a provider refused (HTTP 400 or 422), in its order; empty for any other failure.
 * A field of a tool has its own name, such as `strict`; of a message only the fields that are returned to a gateway.
 */
export function refusedFields({ status, said, kind, param }: StatusError): readonly string[] {
  if (status !== 400 && status !== 422) return [];
  // Gateways encode the provider's body once more.
  const text = said.slice(0, MAX_READ).replaceAll('\\', '');
  const paths = REFUSING_CODES.includes(kind) && param !== undefined ? [param] : [];
  if (NO_ENCRYPTION.test(text)) paths.push('include');
  for (const { form } of FORMS) {
    for (const { groups } of text.matchAll(form)) paths.push(...pathsOf(groups!));
  }
  return [...new Set(paths.map(fieldOf).filter((field) => field !== undefined))];
}

/** The fields that a provider misses in the request body (HTTP 400 or 422); empty for any other failure. */
export function missingFields({ status, said }: StatusError): readonly string[] {
  if (status !== 400 && status !== 422) return [];
  const text = said.slice(0, MAX_READ).replaceAll('\\', '');
  const paths = MISSING_FORMS.flatMap(({ form }) => [...text.matchAll(form)].flatMap(({ groups }) => pathsOf(groups!)));
  return [...new Set(paths.map(fieldOf).filter((field) => field !== undefined))];
}

/** `name` is a path, a list of names, or the list of a path's parts, which starts with `body`. */
function pathsOf({ name = '', at }: Readonly<Record<string, string | undefined>>): string[] {
  if (at !== undefined) return [`${at}.${name}`];
  const parts = name.split(',').map((part) => part.replace(/['"\s]/g, ''));
  return parts[0] === 'body' ? [parts.filter((part) => part !== '').join('.')] : parts;
}

function fieldOf(path: string): string | undefined {
  const parts = path.split(/[.[\]/#]+/).filter((part) => part !== '' && part !== 'body');
  const [first] = parts;
  if (first === undefined) return undefined;
  if (parts.includes(CACHE_CONTROL)) return CACHE_CONTROL;
  if (first === 'output_config' && parts[1] === 'effort') return 'effort';
  if (parts.join('.') === SUMMARY) return SUMMARY;
  if (first === 'messages') return parts.find((part) => RETURNED_FIELDS.includes(part));
  // `tools[0].function.strict`; the name of another field of a tool is no field of the body.
  if (first === 'tools') return parts.at(-1) === 'strict' ? 'strict' : undefined;
  return first.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}
