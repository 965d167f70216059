import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RequestAuthenticator } from '../security/index.js';
import { METRICS_TYPE, MetricRegistry } from '../telemetry/index.js';

/** Serves the metrics at `/metrics` to callers with the scope `operate`: they are about all tenants. */
export function mountMetrics(app: NestFastifyApplication): void {
  const metrics = app.get(MetricRegistry, { strict: false });
  if (!metrics.isOn) return;
  const callers = app.get(RequestAuthenticator);
  app
    .getHttpAdapter()
    .getInstance()
    .get('/metrics', async (request, reply) => {
      await callers.admit(request, ['operate']);
      return reply
        .header('cache-control', 'no-store')
        .type(METRICS_TYPE)
        .send(await metrics.text());
    });
}
