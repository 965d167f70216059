import { choice, integer, pattern } from '../env-value.schema.js';
import { namespace, type NamespaceConfig } from '../namespace.factory.js';
import { serverConfig } from './server.config.js';

/** Metrics for Prometheus. */
export const telemetryConfig = namespace(
  'jackdaw.telemetry',
  'Metrics',
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
  },
  (env, { isHost }) => ({
    /** Whether the process records metrics: only where a scraper can read them. */
    hasMetrics: env.METRICS === 'on' && (!isHost || env.METRICS_PORT !== undefined),
    /** The own port of the metrics. */
    metricsPort: env.METRICS === 'on' ? env.METRICS_PORT : undefined,
    metricsHost: env.METRICS_HOST ?? env.HOST,
  }),
  serverConfig,
);
export type TelemetryConfig = NamespaceConfig<typeof telemetryConfig>;
