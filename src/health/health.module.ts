import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { LlmModule } from '../llm/index.js';
import { ToolModule } from '../tool/index.js';
import { AgentHealthIndicator } from './agent-health.indicator.js';
import { HealthController } from './health.controller.js';
import { DefinitionFilesIndicator } from './definition-files.indicator.js';
import { ModelHealthIndicator } from './model-health.indicator.js';
import { ReadinessService } from './readiness.service.js';

export const HEALTH_ROUTES = {
  imports: [TerminusModule.forRoot({ logger: false }), LlmModule, ToolModule],
  controllers: [HealthController],
  providers: [AgentHealthIndicator, DefinitionFilesIndicator, ModelHealthIndicator, ReadinessService],
};

@Module(HEALTH_ROUTES)
export class HealthModule {}
