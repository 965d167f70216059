import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ToolStates } from '../tool-state/index.js';
import { parseMcpConfig } from './declaration/mcp-declaration.schema.js';
import { McpRegistry } from './mcp-server.registry.js';
import { MemoryToolPinStore } from './stores/memory-tool-pin-store.js';
import { ToolTrust } from './trust/tool-trust.service.js';

Logger.overrideLogger(false);

describe('McpRegistry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-registry-'));
  const { config } = loadConfig({ env: { DATA_DIR: folder, LLM_PROVIDER: 'offline' } });
  const registries: McpRegistry[] = [];
  const create = () => {
    const tools = new ToolRegistry();
    const trust = new ToolTrust(new MemoryToolPinStore());
    const registry = new McpRegistry(config.mcp, config.security, config.database, tools, trust, ToolStates.inMemory());
    registries.push(registry);
    return { registry, tools };
  };
  const dead = parseMcpConfig(
    { name: 'dead', enabled: true, type: 'stdio', stdio: { command: '/no/such/program' } },
    'a test',
    config.mcp,
  );
  let waiting: ReturnType<typeof create>;
  beforeAll(() => {
    waiting = create();
    waiting.registry.add(dead);
  });
  afterAll(async () => {
    await Promise.all(registries.map((registry) => registry.onApplicationShutdown()));
    rmSync(folder, { recursive: true, force: true });
  });

  it('connects to no server before begin()', async () => {
    const { registry } = create();
    registry.begin();
    // The second registry adds its server later, and its connection fails first.
    await registry.add(dead).connection.until(({ status }) => status === 'failed');
    expect(waiting.registry.get('dead').state.status).toBe('connecting');
  });

  it('makes callers wait for the tools of a registered server', async () => {
    const arrived = waiting.tools.arrived(['dead__echo'], new AbortController().signal);
    waiting.registry.begin();
    await arrived;
    expect(waiting.registry.get('dead').state.status).toBe('failed');
  });

  it('connects at once to a server that is used', async () => {
    const { registry } = create();
    await expect(registry.add(dead).offered()).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
  });
});
