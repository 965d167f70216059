import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { toolExecutor } from './tool-parts.js';
import { loadConfig } from '../../src/config/index.js';
import { OutgoingClient } from '../../src/security/egress/index.js';
import { ContextConnections } from '../../src/rest-tool/connection/context-connections.registry.js';
import { RestToolRegistry } from '../../src/rest-tool/rest-tool.registry.js';
import type { RestToolDeclaration } from '../../src/rest-tool/rest-tool.types.js';
import { ContextClosings } from '../../src/tool-state/context-closings.js';
import { ToolStates } from '../../src/tool-state/tool-states.js';
import { ToolRegistry } from '../../src/tool/tool.registry.js';
import { FileLedger } from '../../src/run/context/run-context.js';
import type { RunFile } from '../../src/run/files/run-file.types.js';
import type { CallSite, ToolResult } from '../../src/tool/tool.types.js';
import { callSite } from './call-site.js';
import { WebServer } from './web-server.js';
import { stateBackends } from './state-backends.js';

/** A secret with characters that URLs, JSON and headers escape. */
export const CANARY = 'canary/secret+1"x';

/** The files of a run. */
export function fileLedger(...files: readonly RunFile[]): FileLedger {
  return new FileLedger(async (n) => files.find((file) => file.n === n));
}

/** Declared tools of one web server, called as runs call them. */
export class RestWorld {
  server!: WebServer;
  tools!: ToolRegistry;
  registry!: RestToolRegistry;
  /** The states of its tools, and the connections of those that have one. */
  states!: ToolStates;
  closings!: ContextClosings;
  connections!: ContextConnections;
  private client?: OutgoingClient;
  private config!: ReturnType<typeof loadConfig>['config'];

  private constructor() {}

  /** Call it at the top of a spec: each test starts without tools, requests and answers. */
  static prepare(): RestWorld {
    const world = new RestWorld();
    beforeAll(() => world.start());
    beforeEach(() => world.reset());
    afterEach(() => world.connections.onApplicationShutdown());
    afterAll(() => world.stop());
    return world;
  }

  private async start(): Promise<void> {
    this.server = await WebServer.start();
    await this.allow();
  }

  /** Allows tools to call other servers or places besides this world's own. */
  async allow(...others: readonly (WebServer | string)[]): Promise<void> {
    await this.client?.close();
    this.config = loadConfig({
      env: {
        OUTGOING_ALLOW: [this.server, ...others]
          .map((one) => (typeof one === 'string' ? one : `127.0.0.1:${one.port}`))
          .join(','),
        TOOL_SECRETS: 'CRM_TOKEN,CRM_USER',
        CRM_TOKEN: CANARY,
        CRM_USER: 'crm-user',
        OTHER_SECRET: 'not for tools',
      },
    }).config;
    this.client = new OutgoingClient(this.config.security.outgoing);
  }

  /** Removes tools, requests and answers. */
  reset(): void {
    this.server.reset();
    this.tools = new ToolRegistry();
    this.closings = new ContextClosings();
    this.states = new ToolStates(stateBackends({ config: this.config, closings: this.closings }));
    this.connections = new ContextConnections(this.client!, this.closings);
    this.registry = new RestToolRegistry(this.config.tool, this.client!, this.tools, this.connections);
  }

  private async stop(): Promise<void> {
    await this.client?.close();
    await this.server.close();
  }

  /** Declares the tool `crm` at `/crm`, and replaces the former one. */
  declare(more: Partial<RestToolDeclaration>): void {
    this.tools.unregister('crm');
    this.registry.register({ name: 'crm', description: 'Asks the CRM.', url: `${this.server.url}/crm`, ...more });
  }

  async call(args: unknown, site: Partial<CallSite> = {}, name = 'crm'): Promise<ToolResult> {
    const executor = toolExecutor({ states: this.states });
    const tools = new Map(this.tools.list().map((tool) => [tool.definition.name, tool]));
    const planned = await executor.check({ name, arguments: JSON.stringify(args) }, tools);
    if (planned.kind === 'rejected') return planned.result;
    const invoked = await executor.invoke(planned, callSite(site));
    if (invoked.kind !== 'result') throw new Error('It asks.');
    await invoked.storedState?.companion.alone();
    return invoked.result;
  }

  /** A separate call in a session. */
  async callIn(sessionId: string, args: unknown = {}, site: Partial<CallSite> = {}): Promise<ToolResult> {
    return this.call(args, { sessionId, key: randomUUID(), ...site });
  }

  async errorOf(args: unknown): Promise<string> {
    const result = await this.call(args);
    return result.success ? 'none' : result.error;
  }
}
