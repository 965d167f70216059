import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { LlmModule } from '../llm/index.js';
import { RunModule } from '../run/index.js';
import { ToolModule } from '../tool/index.js';
import { AgentHealthIndicator } from './agent-health.indicator.js';
import { HealthController } from './health.controller.js';
import { DefinitionFilesIndicator } from './definition-files.indicator.js';
import { HealthPort } from './health-port.js';
import { ModelHealthIndicator } from './model-health.indicator.js';
import { ReadinessService } from './readiness.service.js';
import { RedisIndicator } from './redis.indicator.js';

export const HEALTH_ROUTES = {
  imports: [TerminusModule.forRoot({ logger: false }), LlmModule, RunModule, ToolModule],
  controllers: [HealthController],
  providers: [AgentHealthIndicator, DefinitionFilesIndicator, ModelHealthIndicator, ReadinessService, RedisIndicator],
};

/** The health checks of a server, with their own port. */
@Module({
  ...HEALTH_ROUTES,
  providers: [
    ...HEALTH_ROUTES.providers,
    {
      provide: HealthPort,
      useFactory: (readiness: ReadinessService) => new HealthPort(() => readiness.check()),
      inject: [ReadinessService],
    },
  ],
})
export class HealthModule {}
