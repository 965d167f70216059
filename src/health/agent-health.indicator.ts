import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { AgentModelFactory, AgentRegistry } from '../agent/index.js';
import { messageOf } from '../common/index.js';
import { Database } from '../persistence/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ReadinessService } from './readiness.service.js';

const DATABASE_TIMEOUT_MS = 2_000;

/** What an agent needs to answer: a model, the database, its tools. No model is called for it. */
@Injectable()
export class AgentHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly agents: AgentRegistry,
    private readonly models: AgentModelFactory,
    private readonly database: Database,
    private readonly tools: ToolRegistry,
    private readonly readiness: ReadinessService,
  ) {}

  model(): HealthIndicatorResult {
    const session = this.indicators.check('model');
    try {
      const { provider, name } = this.models.create(this.agents.get().definition);
      return session.up({ provider, name });
    } catch (error) {
      return session.down(messageOf(error));
    }
  }

  async databaseAnswers(): Promise<HealthIndicatorResult> {
    return this.indicators
      .check('database')
      .attempt(() => this.database.ping())
      .withTimeout(DATABASE_TIMEOUT_MS);
  }

  registeredTools(): HealthIndicatorResult {
    // Their names are for who may call them; health is for everybody.
    return this.indicators.check('tools').up({ count: this.tools.list().length });
  }

  server(): HealthIndicatorResult {
    const session = this.indicators.check('server');
    return this.readiness.isReady ? session.up() : session.down('shutting down');
  }
}
