import { headerSecrets, MIN_SECRET_LENGTH, SECRET_HEADER } from '../kernel/text/index.js';
import type { Configuration } from './env.schema.js';
import type { ProviderAccess } from './provider.policy.js';

/** The secrets of the configuration, which no log line and no error may contain. */
export class ConfiguredSecrets {
  constructor(readonly values: readonly string[]) {}

  static of(config: Configuration): ConfiguredSecrets {
    return new ConfiguredSecrets([...new Set(namedSecrets(config).map(({ value }) => value))]);
  }
}

/** Warnings about secrets that are too short to be masked by their value. */
export function shortSecretWarnings(config: Configuration): string[] {
  const short = namedSecrets(config).filter(
    ({ value, isHarmless }) => !isHarmless && value !== '' && value.length < MIN_SECRET_LENGTH,
  );
  return [...new Set(short.map(({ name }) => name))].map(
    (name) =>
      `${name} has fewer than ${MIN_SECRET_LENGTH} characters, so it is not masked in errors and logs: use a longer one`,
  );
}

interface NamedSecret {
  readonly name: string;
  readonly value: string;
  /** Whether the value is probably no secret: the name of its header does not suggest one. */
  readonly isHarmless?: boolean;
}

function namedSecrets(config: Configuration): NamedSecret[] {
  const { llm, mcpServer, security, telemetry, tool } = config;
  const urls = storeUrls(config);
  return [
    ...urls.flatMap(([name, url]) => named(name, [url])),
    ...urls.flatMap(([name, url]) => named(`The password in ${name}`, passwordsOf(url))),
    ...named(
      'An encryption key',
      security.encryption.keys.map(({ key }) => key),
    ),
    ...named(
      'A signing key',
      llm.signingKeys.map(({ key }) => key),
    ),
    ...Object.entries(llm.access).flatMap(([provider, access]) => accessSecrets(provider, access)),
    ...Object.entries(tool.secrets).flatMap(([name, value]) => named(name, [value])),
    ...headerValues('OTEL_EXPORTER_OTLP_HEADERS', telemetry.tracing?.headers),
    ...named('The password in the URL of the collector', passwordsOf(telemetry.tracing?.url)),
    ...named('MCP_STDIO_KEY', [mcpServer.apiKey]),
  ];
}

function named(name: string, values: readonly (string | undefined)[]): NamedSecret[] {
  return values.filter((value) => value !== undefined).map((value) => ({ name, value }));
}

function accessSecrets(provider: string, access: ProviderAccess): NamedSecret[] {
  const { apiKey, apiKeys = [], baseUrl, headers = {} } = access;
  const keys = [apiKey, ...apiKeys].filter((key) => key !== undefined);
  return [
    ...passwordsOf(baseUrl).map((value) => ({ name: `The password in the base URL of ${provider}`, value })),
    ...keys.map((value) => ({ name: `The API key of ${provider}`, value })),
    ...headerValues(provider, headers),
  ];
}

function headerValues(owner: string, headers: Readonly<Record<string, string>> = {}): NamedSecret[] {
  return Object.entries(headers).flatMap(([header, text]) =>
    headerSecrets(header, text).map((value) => ({
      name: `The header ${header} of ${owner}`,
      value,
      isHarmless: !SECRET_HEADER.test(header),
    })),
  );
}

function storeUrls({
  database,
  session,
  toolState,
  security,
}: Configuration): [name: string, url: string | undefined][] {
  const { store } = session;
  return [
    ['DATABASE_URL', database.url],
    ['REDIS_URL', database.redisUrl],
    ['TOOL_STATE_REDIS_URL', toolState.redis.url],
    ['SESSION_STORE', 'url' in store ? store.url : undefined],
    ['HTTP_PROXY', security.outgoing.proxy?.httpProxy],
    ['HTTPS_PROXY', security.outgoing.proxy?.httpsProxy],
  ];
}

/** The password of a URL, encoded and decoded: drivers put it into their errors without the URL. */
function passwordsOf(url = ''): string[] {
  const password = URL.parse(url)?.password;
  return password ? [password, decoded(password)] : [];
}

/** A text with a stray `%` stays unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
