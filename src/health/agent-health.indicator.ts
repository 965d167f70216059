import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { isDoneWithin } from '../kernel/index.js';
import { McpRegistry } from '../mcp/index.js';
import { Database } from '../persistence/index.js';
import { RunAdmissionService } from '../run/index.js';
import { ToolRegistry } from '../tool/index.js';

const DATABASE_TIMEOUT_MS = 2_000;
/** Age of the last successful write that needs no new proof, in ms. */
const WRITE_AGE_MS = 10_000;
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/** Dependencies of an agent other than its model: the database, its tools, MCP servers. */
@Injectable()
export class AgentHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly database: Database,
    private readonly tools: ToolRegistry,
    private readonly admission: RunAdmissionService,
    private readonly servers: McpRegistry,
  ) {}

  /** Whether the database accepts writes, and has room for more. The cause of an outage names no file and no server. */
  async databaseWrites(): Promise<HealthIndicatorResult> {
    const session = this.indicators.check('database');
    const written = await isDoneWithin(DATABASE_TIMEOUT_MS, this.proveWrite());
    if (!written) return session.down(this.database.outage ?? 'it does not answer');
    const free = await this.database.freeBytes();
    return free !== null && free < MIN_FREE_BYTES
      ? session.down('its disk has less than 64 MB of free space')
      : session.up();
  }

  private async proveWrite(): Promise<void> {
    await this.database.ping();
    await this.database.proveWrite(WRITE_AGE_MS);
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

  /** Not ready from the start of a shutdown, while executing runs may still end. */
  server(): HealthIndicatorResult {
    const session = this.indicators.check('server');
    return this.admission.isClosing ? session.down('shutting down') : session.up();
  }
}
