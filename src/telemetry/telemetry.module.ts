import {
  type BeforeApplicationShutdown,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { telemetryConfig, type TelemetryConfig } from '../config/namespaces/index.js';
import { Log } from '../errors/index.js';
import { Database } from '../persistence/index.js';
import { MetricRegistry } from './metric.registry.js';
import { MetricsListener } from './metrics-listener.js';
import { ProcessMetrics } from './process-metrics.js';
import { Tracing, type SourcesSettled } from './tracing.js';

/** Time for the last spans at a stop, in ms. */
const FLUSH_MS = 2_000;

/**
 * Provides the metrics of the process, with those of Node and of the database, and serves them on their own port. Sends
 * traces if a collector is configured.
 */
@Module({
  providers: [
    {
      provide: MetricRegistry,
      useFactory: ({ hasMetrics }: TelemetryConfig) => new MetricRegistry(hasMetrics),
      inject: [telemetryConfig.KEY],
    },
    {
      provide: MetricsListener,
      useFactory: (metrics: MetricRegistry) => new MetricsListener(metrics),
      inject: [MetricRegistry],
    },
    { provide: Tracing, useFactory: createTracing, inject: [telemetryConfig.KEY, MetricRegistry] },
  ],
  exports: [MetricRegistry, Tracing],
})
export class TelemetryModule
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Log('Metrics');
  private readonly process = new ProcessMetrics();
  private stop = (): void => undefined;

  constructor(
    @Inject(telemetryConfig.KEY) private readonly config: TelemetryConfig,
    private readonly metrics: MetricRegistry,
    private readonly listener: MetricsListener,
    private readonly database: Database,
    private readonly tracing: Tracing,
  ) {}

  onModuleInit(): void {
    const { metrics, database } = this;
    if (!metrics.isOn) return;
    metrics.collect(() => this.process.read());
    metrics.collect(() => [['jackdaw_storage_up', database.outage === null ? 1 : 0]]);
    this.stop = database.onCommit((ms) => metrics.observe('jackdaw_commit_duration_seconds', ms / 1000));
  }

  async onApplicationBootstrap(): Promise<void> {
    const { metricsPort, metricsHost, isSupervised } = this.config;
    if (metricsPort === undefined || isSupervised) return;
    await this.listener.listen(metricsPort, metricsHost);
    this.logger.log(`Metrics at http://${hostText(metricsHost)}:${this.listener.port}/metrics, without a key`);
  }

  onModuleDestroy(): void {
    this.stop();
  }

  /** After the end of the runs, before the database closes. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.tracing.close(FLUSH_MS);
  }

  /** After the end of the runs: the last scrape of a stopping server still has an answer. */
  async onApplicationShutdown(): Promise<void> {
    await this.listener.close();
    this.process.close();
  }
}

function hostText(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** Without a collector, the code of traces is not loaded. */
async function createTracing({ tracing }: TelemetryConfig, metrics: MetricRegistry): Promise<Tracing> {
  if (!tracing) return new Tracing(null);
  const { createTracingParts } = await import('./trace/create-tracing.js');
  const settled: SourcesSettled = (sources, isExported) => traces.settled(sources, isExported);
  const traces = new Tracing(createTracingParts(tracing, metrics, settled));
  return traces;
}
