import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ToolModule } from '../tool/index.js';
import { AgentHealthIndicator } from './agent-health.indicator.js';
import { HealthController } from './health.controller.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false }), ToolModule],
  controllers: [HealthController],
  providers: [AgentHealthIndicator, ReadinessService],
})
export class HealthModule {}
