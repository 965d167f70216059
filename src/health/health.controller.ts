import { Controller, Get, Req, ServiceUnavailableException, UseFilters } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { type CredentialRequest, Public, RequestAuthenticator } from '../security/index.js';
import { AgentHealthIndicator } from './agent-health.indicator.js';
import { DefinitionFilesIndicator } from './definition-files.indicator.js';
import { ModelHealthIndicator } from './model-health.indicator.js';
import { HealthFilter } from './health.filter.js';
import { ReadinessService } from './readiness.service.js';

@Public()
@UseFilters(HealthFilter)
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: AgentHealthIndicator,
    private readonly model: ModelHealthIndicator,
    private readonly files: DefinitionFilesIndicator,
    private readonly readiness: ReadinessService,
    private readonly callers: RequestAuthenticator,
  ) {}

  /**
   * Whether the default agent is operational: its model, the database, tools, MCP servers and definition files. A caller
   * without a valid credential gets the status of each, without names and counts.
   */
  @Get('agent/health')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  async agent(@Req() request: CredentialRequest): Promise<HealthCheckResult> {
    const isKnown = await this.callers.isKnown(request);
    if (isKnown) return this.checkAgent();
    try {
      return withoutDetails(await this.checkAgent());
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      throw new ServiceUnavailableException(withoutDetails(error.getResponse() as HealthCheckResult));
    }
  }

  private checkAgent(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.model.check(),
      () => this.indicator.databaseWrites(),
      () => this.indicator.registeredTools(),
      ...[...this.indicator.mcpServers(), ...this.files.check()].map((result) => () => result),
    ]);
  }

  /** Whether the process is alive. */
  @Get('health/live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /**
   * Whether the server accepts requests; 503 from the start of a shutdown, and while the database accepts no writes. A Redis
   * that does not answer is `degraded`, or `down` if data in it is needed.
   */
  @Get('health/ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  ready(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }
}

function withoutDetails({ status, info, error, details }: HealthCheckResult): HealthCheckResult {
  return {
    status,
    ...(info && { info: statusesOf(info) }),
    ...(error && { error: statusesOf(error) }),
    details: statusesOf(details),
  };
}

function statusesOf(parts: Partial<HealthCheckResult['details']>): HealthCheckResult['details'] {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, part]) => (part ? [[name, { status: part.status }]] : [])),
  );
}
