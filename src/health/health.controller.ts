import { Controller, Get, UseFilters } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Public } from '../security/index.js';
import { AgentHealthIndicator } from './agent-health.indicator.js';
import { DefinitionFilesIndicator } from './definition-files.indicator.js';
import { ModelHealthIndicator } from './model-health.indicator.js';
import { HealthFilter } from './health.filter.js';

@Public()
@UseFilters(HealthFilter)
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: AgentHealthIndicator,
    private readonly model: ModelHealthIndicator,
    private readonly files: DefinitionFilesIndicator,
  ) {}

  /** Whether the default agent is operational: its model, the database, tools, MCP servers and definition files. */
  @Get('agent/health')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  agent(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.model.check(),
      () => this.indicator.databaseAnswers(),
      () => this.indicator.registeredTools(),
      ...[...this.indicator.mcpServers(), ...this.files.check()].map((result) => () => result),
    ]);
  }

  /** Whether the process is alive. */
  @Get('health/live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Whether the server accepts requests; 503 from the start of a shutdown. */
  @Get('health/ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.indicator.server(), () => this.indicator.databaseAnswers()]);
  }
}
