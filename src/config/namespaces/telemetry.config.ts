import { checked, choice, decimal, flag, httpUrl, integer, pattern } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';
import { workerNumber } from '../worker.loader.js';
import { serverConfig } from './server.config.js';

const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** No control characters: a value may become a header. */
const VALUE = /^[^\p{Cc}]*$/u;

/**
 * Names and percent-encoded values, comma-separated, as OpenTelemetry's variables have them (the format of W3C Baggage).
 * @param allowed a description of the pairs with an example, for the message
 */
export function otlpPairs(allowed: string) {
  return checked(parsePairs, `${allowed}: name=value, comma-separated`);
}

function parsePairs(text: string): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(at, 0)).trim();
    const value = decoded(part.slice(at + 1).trim());
    if (!NAME.test(name) || value === undefined || !VALUE.test(value)) return undefined;
    pairs.push([name, value]);
  }
  return Object.fromEntries(pairs);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The path of traces below `OTEL_EXPORTER_OTLP_ENDPOINT`. */
const TRACES_PATH = '/v1/traces';

/** Metrics for Prometheus, and traces for OpenTelemetry. */
export const telemetryConfig = namespace(
  'jackdaw.telemetry',
  'Metrics and traces',
  {
    METRICS: choice(['on', 'off'])
      .default('on')
      .describe(
        'Whether `GET /metrics` serves metrics to callers with the scope `operate`, in the text format of Prometheus: `on` or `off`. In a host application only `METRICS_PORT` serves them',
      ),
    METRICS_PORT: integer(0, 65_535)
      .optional()
      .describe('TCP port that serves `GET /metrics` in addition, without a key; 0 selects a free one'),
    METRICS_HOST: pattern(/^\S{1,255}$/, 'a host name or an address')
      .optional()
      .describe('Address that `METRICS_PORT` listens on; by default `HOST`'),
    OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl()
      .optional()
      .describe(
        'Base URL of an OpenTelemetry collector, such as `http://127.0.0.1:4318`: traces of runs go to its path `/v1/traces`. Without an endpoint there are no traces',
      ),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl()
      .optional()
      .describe('URL that receives traces, with its path; instead of `OTEL_EXPORTER_OTLP_ENDPOINT`'),
    OTEL_EXPORTER_OTLP_HEADERS: otlpPairs('headers, such as api-key=secret,x-tenant=a').optional().meta({
      isSecret: true,
      description: 'Headers of requests to the collector: `name=value`, comma-separated, values percent-encoded',
    }),
    OTEL_EXPORTER_OTLP_PROTOCOL: checked(
      (text) => (text === 'http/json' ? text : undefined),
      'http/json, the only supported protocol: not grpc, and not http/protobuf',
    )
      .default('http/json')
      .describe('Protocol of the export'),
    OTEL_EXPORTER_OTLP_TIMEOUT: integer(1, 60_000, 'ms')
      .default(10_000)
      .describe('Time limit of one request to the collector, in ms'),
    OTEL_BSP_SCHEDULE_DELAY: integer(1, 60_000, 'ms')
      .default(5000)
      .describe('Longest time that a span waits for a batch, in ms'),
    OTEL_SERVICE_NAME: pattern(/^\S.{0,254}$/, 'a name')
      .optional()
      .describe(
        'Name of the service in traces; by default `service.name` of `OTEL_RESOURCE_ATTRIBUTES`, else `jackdaw`',
      ),
    OTEL_RESOURCE_ATTRIBUTES: otlpPairs('attributes, such as deployment.environment.name=production')
      .optional()
      .describe('Attributes of the service in traces: `name=value`, comma-separated, values percent-encoded'),
    OTEL_TRACES_SAMPLER: choice(SAMPLERS)
      .default('parentbased_always_on')
      .describe('Which traces are sent; `parentbased_` follows the `traceparent` of a request, if it has one'),
    OTEL_TRACES_SAMPLER_ARG: decimal(0, 1).default(1).describe('Share of traces that `traceidratio` sends, 0 to 1'),
    OTEL_SDK_DISABLED: flag().default(false).describe('Whether traces are off despite an endpoint'),
    TELEMETRY_CONTENT: choice(['on', 'off'])
      .default('off')
      .describe('Whether traces contain messages, arguments and results of tools, masked as in the log: `on` or `off`'),
  },
  (env, { isHost }) => ({
    /** Whether the process records metrics: only where a scraper can read them. */
    hasMetrics: env.METRICS === 'on' && (!isHost || env.METRICS_PORT !== undefined),
    /** The own port of the metrics. */
    metricsPort: env.METRICS === 'on' ? env.METRICS_PORT : undefined,
    metricsHost: env.METRICS_HOST ?? env.HOST,
    /** Whether the supervisor of this worker serves that port. */
    ...compact({ isSupervised: (!isHost && workerNumber() !== undefined) || undefined }),
    /** Undefined if traces are off. */
    tracing: tracingOf(env),
  }),
  serverConfig,
);
export type TelemetryConfig = NamespaceConfig<typeof telemetryConfig>;

interface TracingEnv {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: Readonly<Record<string, string>> | undefined;
  readonly OTEL_EXPORTER_OTLP_TIMEOUT: number;
  readonly OTEL_BSP_SCHEDULE_DELAY: number;
  readonly OTEL_SERVICE_NAME?: string | undefined;
  readonly OTEL_RESOURCE_ATTRIBUTES?: Readonly<Record<string, string>> | undefined;
  readonly OTEL_TRACES_SAMPLER: (typeof SAMPLERS)[number];
  readonly OTEL_TRACES_SAMPLER_ARG: number;
  readonly OTEL_SDK_DISABLED: boolean;
  readonly TELEMETRY_CONTENT: 'on' | 'off';
}

function tracingOf(env: TracingEnv) {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}${TRACES_PATH}`);
  if (!url || env.OTEL_SDK_DISABLED) return undefined;
  const attributes = env.OTEL_RESOURCE_ATTRIBUTES ?? {};
  const service = env.OTEL_SERVICE_NAME ?? attributes['service.name'] ?? 'jackdaw';
  return {
    url,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT,
    /** Longest wait of a span for its batch, in ms. */
    delayMs: env.OTEL_BSP_SCHEDULE_DELAY,
    resource: { ...attributes, 'service.name': service },
    sampler: { name: env.OTEL_TRACES_SAMPLER, ratio: env.OTEL_TRACES_SAMPLER_ARG },
    hasContent: env.TELEMETRY_CONTENT === 'on',
  };
}
