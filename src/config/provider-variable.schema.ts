import { z } from 'zod';
import { isJsonObject, parseJson } from '../kernel/json/index.js';
import { baseUrl, checked, keyList, pattern } from './env-value.schema.js';
import { LLM_PROVIDERS } from './model-option.parser.js';
import type { ValuesOf } from './namespace.factory.js';

/** Headers of requests: lower-case names, and their values. */
export type RequestHeaders = Readonly<Record<string, string>>;

const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** Headers that describe the connection or the body. */
const RESERVED = [
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** `…_HEADERS`: a JSON object of header names and values. */
export function requestHeaders() {
  return checked(
    parseHeaders,
    `a JSON object of headers, such as {"x-portkey-config": "pc-1"}, each value a text, without ${RESERVED.join(', ')}`,
  );
}

function parseHeaders(text: string): RequestHeaders | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const headers = Object.entries(parsed.value).map(([name, one]) => [name.toLowerCase(), one] as const);
  const isDistinct = new Set(headers.map(([name]) => name)).size === headers.length;
  const isValid = headers.every(
    ([name, one]) => NAME.test(name) && !RESERVED.includes(name) && typeof one === 'string' && VALUE.test(one),
  );
  return isDistinct && isValid ? (Object.fromEntries(headers) as RequestHeaders) : undefined;
}

type KeyVariables<P extends string> = Record<`${P}_API_KEY` | `${P}_API_KEY_FILE`, z.ZodOptional<z.ZodString>> &
  Record<`${P}_API_KEYS`, z.ZodOptional<ReturnType<typeof keyList>>>;

/** The three variables for the keys of one provider. */
function keyVariables<P extends string>(prefix: P, provider: string, condition = ''): KeyVariables<P> {
  return {
    [`${prefix}_API_KEY`]: z
      .string()
      .optional()
      .meta({ isSecret: true, description: `Key for ${provider}${condition}` }),
    [`${prefix}_API_KEYS`]: keyList()
      .optional()
      .meta({
        isSecret: true,
        description: `Several keys for ${provider}, comma-separated; if one is rate-limited or rejected, the next is used`,
      }),
    [`${prefix}_API_KEY_FILE`]: z
      .string()
      .optional()
      .describe(`File with keys for ${provider}, one per line; reloaded when it changes`),
  } as KeyVariables<P>;
}

type HeaderVariables<P extends string> = Record<`${P}_HEADERS`, z.ZodOptional<ReturnType<typeof requestHeaders>>>;

/** The variable for the headers of requests to one provider. */
function headerVariables<P extends string>(prefix: P, provider: string, condition = ''): HeaderVariables<P> {
  return {
    [`${prefix}_HEADERS`]: requestHeaders()
      .optional()
      .meta({
        isSecret: true,
        description: `Further headers of requests to ${provider}${condition}, such as those of a gateway: a JSON object of names and values. They override Jackdaw’s own; logs and errors mask the values`,
      }),
  } as HeaderVariables<P>;
}

/** The choice of the model, and the access data of each provider. */
export const PROVIDER_VARIABLES = {
  LLM_PROVIDER: pattern(/^[a-z\d][a-z\d-]{0,63}$/, `one of ${LLM_PROVIDERS.join(', ')}, or one of your own`)
    .optional()
    .describe(
      `One of ${LLM_PROVIDERS.join(', ')}, or one of your own (docs/providers.md). By default openai-compatible if LLM_BASE_URL is set, else the first provider with a key (ollama: with a URL), else offline`,
    ),
  LLM_MODEL: z.string().optional().describe("Model name (with azure the deployment's); by default the provider's"),
  ...keyVariables('LLM', 'the chosen provider', ', if its own variable is not set'),
  ...headerVariables('LLM', 'the chosen provider', ', if its own variable is not set'),
  LLM_BASE_URL: baseUrl()
    .optional()
    .describe(
      'API base URL for the chosen provider, if its own variable is not set; only `LLM_API_KEY` and `LLM_HEADERS` are sent there, never a provider’s own key or headers',
    ),
  ...keyVariables('OPENAI', 'openai'),
  ...headerVariables('OPENAI', 'openai'),
  OPENAI_BASE_URL: baseUrl().optional().describe('API base URL for openai'),
  ...keyVariables('ANTHROPIC', 'anthropic'),
  ...headerVariables('ANTHROPIC', 'anthropic'),
  ANTHROPIC_BASE_URL: baseUrl().optional().describe('API base URL for anthropic'),
  ...keyVariables('AZURE_OPENAI', 'azure'),
  ...headerVariables('AZURE_OPENAI', 'azure'),
  AZURE_OPENAI_ENDPOINT: baseUrl()
    .optional()
    .describe('Endpoint for azure, such as `https://name.openai.azure.com`; `LLM_MODEL` is the name of a deployment'),
  AZURE_OPENAI_API_VERSION: pattern(/^(v1|\d{4}-\d{2}-\d{2}(-preview)?)$/, 'v1 or a version such as 2024-10-21')
    .default('v1')
    .describe('Version of the API of azure: `v1`, or a date such as `2024-10-21` for the API with dated versions'),
  ...keyVariables('DEEPSEEK', 'deepseek'),
  ...headerVariables('DEEPSEEK', 'deepseek'),
  DEEPSEEK_BASE_URL: baseUrl().optional().describe('API base URL for deepseek'),
  ...keyVariables('GLM', 'glm'),
  ...headerVariables('GLM', 'glm'),
  GLM_BASE_URL: baseUrl().optional().describe('API base URL for glm'),
  ...headerVariables('OLLAMA', 'ollama'),
  OLLAMA_BASE_URL: baseUrl().optional().describe('API base URL for ollama'),
};

export type ProviderValues = ValuesOf<typeof PROVIDER_VARIABLES>;
