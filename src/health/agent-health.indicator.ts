import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { McpRegistry } from '../mcp/index.js';
import { Database } from '../persistence/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ReadinessService } from './readiness.service.js';

const DATABASE_TIMEOUT_MS = 2_000;

/** Dependencies of an agent other than its model: the database, its tools, MCP servers. */
@Injectable()
export class AgentHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly database: Database,
    private readonly tools: ToolRegistry,
    private readonly readiness: ReadinessService,
    private readonly servers: McpRegistry,
  ) {}

  async databaseAnswers(): Promise<HealthIndicatorResult> {
    return this.indicators
      .check('database')
      .attempt(() => this.database.ping())
      .withTimeout(DATABASE_TIMEOUT_MS);
  }

  registeredTools(): HealthIndicatorResult {
    // Only a count: tool names require a scope, but health is public.
    return this.indicators.check('tools').up({ count: this.tools.list().length });
  }

  /** Empty without MCP servers. An unavailable server does not make the agent unhealthy; unusable tools degrade it. */
  mcpServers(): HealthIndicatorResult[] {
    const servers = this.servers.list();
    if (servers.length === 0) return [];
    const connected = servers.filter(({ state }) => state.status === 'ready').length;
    const enabled = servers.filter(({ state }) => state.status !== 'disabled').length;
    const refused = servers.reduce((sum, { tools }) => sum + tools.refused.size, 0);
    const quarantined = servers.reduce((sum, server) => sum + server.quarantined.length, 0);
    // A suspicious text that hides nothing is only counted.
    const warned = servers.reduce((sum, { tools }) => sum + tools.warned, 0);
    const counts = { connected, enabled, ...(warned > 0 && { warned }) };
    const session = this.indicators.check('mcp');
    if (refused + quarantined === 0) return [session.up(counts)];
    return [session.degraded({ ...counts, refused, quarantined })];
  }

  server(): HealthIndicatorResult {
    const session = this.indicators.check('server');
    return this.readiness.isReady ? session.up() : session.down('shutting down');
  }
}
