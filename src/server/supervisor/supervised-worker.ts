import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  databaseConfig,
  type DatabaseConfig,
  serverConfig,
  type ServerConfig,
  telemetryConfig,
  type TelemetryConfig,
} from '../../config/namespaces/index.js';
import { HealthPort } from '../../health/index.js';
import { MetricRegistry } from '../../telemetry/index.js';
import type { DrainingAdapter } from '../draining-adapter.js';
import { startLines } from '../start-log.js';
import type { SupervisorLink } from './supervisor-link.js';

/** As at a signal. */
function end(): void {
  process.emit('SIGTERM', 'SIGTERM');
}

/** Executes the requests of the supervisor. */
export function followSupervisor(app: NestFastifyApplication, link: SupervisorLink): void {
  const adapter = app.getHttpAdapter() as DrainingAdapter;
  const metrics = app.get(MetricRegistry, { strict: false });
  adapter.countRequests();
  link.follow({
    stop: () => {
      adapter.isLast = true;
      end();
    },
    retire: (limitMs) => void adapter.retire(limitMs).then(end),
    metrics: () => metrics.text(),
  });
}

/** Reports the start to the supervisor, which logs it when all workers are ready, and from now on the health. */
export async function reportStart(app: NestFastifyApplication, link: SupervisorLink): Promise<void> {
  const { prefix, healthPort, healthHost, logLevel, contextLevels, logFormat } = app.get<ServerConfig>(
    serverConfig.KEY,
  );
  const { metricsPort, metricsHost } = app.get<TelemetryConfig>(telemetryConfig.KEY);
  const { stopLimitMs } = app.get<DatabaseConfig>(databaseConfig.KEY);
  if (healthPort !== undefined) app.get(HealthPort, { strict: false }).report((signal) => link.health(signal));
  const settings = {
    url: await app.getUrl(),
    prefix,
    logLevel,
    contextLevels,
    logFormat,
    healthHost,
    metricsHost,
    stopLimitMs,
    ...(healthPort !== undefined && { healthPort }),
    ...(metricsPort !== undefined && { metricsPort }),
  };
  await link.siblings.open(app.getHttpServer());
  link.ready({ settings, lines: await startLines(app) });
}
