import { Injectable } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { AgentHealthIndicator } from './agent-health.indicator.js';
import { RedisIndicator } from './redis.indicator.js';

/** Whether the server accepts requests. */
@Injectable()
export class ReadinessService {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: AgentHealthIndicator,
    private readonly redis: RedisIndicator,
  ) {}

  /** @throws ServiceUnavailableException with the result if the server is not ready */
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.indicator.server(),
      () => this.indicator.databaseWrites(),
      ...this.redis.checks(),
    ]);
  }
}
