import { afterEach, describe, expect, it } from 'vitest';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { callTool } from './support/direct-calls.js';
import { hostile } from './support/mcp/hostile-servers.js';
import { processesWith } from './support/mcp/process-list.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();

/**
 * Programs that do not end with their owner, or leave a process that does not; with the number of processes of each.
 */
const KINDS = { stubborn: 2, deaf: 1, parent: 2, daemon: 2 };
const MODES = Object.keys(KINDS);
const ALL = 7;

/** The variables of a server with these programs. */
function withPrograms(modes: readonly string[], place = world.folder): Record<string, string> {
  const path = join(world.folder, 'mcp.json');
  const mcpServers = Object.fromEntries(modes.map((mode) => [mode, hostile(mode, 'legacy', place).stdio]));
  writeFileSync(path, JSON.stringify({ mcpServers }));
  return { MCP_SERVERS_FILE: path };
}

/** Starts a server, and waits until each of its programs has been called. */
async function started(modes: readonly string[], place?: string): Promise<ServerProcess> {
  const server = await world.start(withPrograms(modes, place));
  for (const mode of modes) {
    while ((await callTool(server, `${mode}__echo`, { arguments: { text: 'x' } })).body['success'] !== true);
  }
  return server;
}

/** Waits until the test's programs have exactly this many processes. */
async function untilThereAre(count: number, place = world.folder): Promise<void> {
  while (processesWith(place).length !== count) await new Promise((resolve) => setImmediate(resolve));
}

/** Servers are killed after each test; the processes that they leave have no owner. */
afterEach(() => {
  for (const pid of processesWith(world.folder)) process.kill(pid, 'SIGKILL');
});

const ledger = () => join(world.folder, 'mcp-children');

describe('the programs of a server that is killed', () => {
  it('are ended by the next server, with all processes that they started', async () => {
    const server = await started(MODES);
    await untilThereAre(ALL);
    const before = processesWith(world.folder);
    await server.kill();
    // Programs that end with their stdin have ended: the leaders of two groups, whose other members still run.
    await untilThereAre(ALL - 2);

    await started(MODES);
    await untilThereAre(ALL);
    expect(processesWith(world.folder).filter((pid) => before.includes(pid))).toEqual([]);
    expect(readdirSync(ledger())).toHaveLength(MODES.length);
  });

  it('are ended by a server without MCP servers', async () => {
    const server = await started(['deaf', 'stubborn']);
    await server.kill();
    expect(processesWith(world.folder)).not.toEqual([]);
    await started([]);
    await untilThereAre(0);
    expect(readdirSync(ledger())).toEqual([]);
  });

  it('are ended when the server shuts down', async () => {
    const server = await started(MODES);
    await untilThereAre(ALL);
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(processesWith(world.folder)).toEqual([]);
    expect(readdirSync(ledger())).toEqual([]);
  });
});

describe('the programs of a process that exits without a shutdown', () => {
  it('are ended at the exit, those of all its applications', async () => {
    const script = join(import.meta.dirname, 'support', 'leave-program.mjs');
    const owner = spawn(process.execPath, [script, world.folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(owner.stdout, 'data');
    await untilThereAre(3);
    owner.stdin.write('exit\n');
    expect(await once(owner, 'exit')).toEqual([0, null]);
    await untilThereAre(0);
  });
});

describe('a process that reuses the id of an ended one', () => {
  let bystander: ChildProcess;
  afterEach(() => void bystander.kill('SIGKILL'));

  it('is never ended', async () => {
    const server = await started(['deaf']);
    await server.kill();
    const [name] = readdirSync(ledger());
    bystander = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    const entry = JSON.parse(readFileSync(join(ledger(), name!), 'utf8')) as Record<string, unknown>;
    writeFileSync(join(ledger(), name!), JSON.stringify({ ...entry, pid: bystander.pid }));
    await started(['deaf']);
    // The intended process is identified by its mark, whatever its id.
    await untilThereAre(1);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    expect(processesWith('sleep\u00001000')).toContain(bystander.pid);
  });
});

for (const store of (await clusterStores()).slice(0, 1)) {
  describeClusters('two servers over one data folder', [store], () => {
    world.share(store, {});

    it('leave the programs of each other alone, and end those of a dead server', async () => {
      const [one, two, three] = ['one', 'two', 'three'].map((name) => join(world.folder, name));
      const first = await started(['deaf', 'stubborn'], one);
      const second = await started(['deaf', 'stubborn'], two);
      const ofFirst = processesWith(one!);
      expect(ofFirst).toHaveLength(3);
      expect(processesWith(two!)).toHaveLength(3);

      await first.kill();
      const third = await started(['deaf', 'stubborn'], three);
      await untilThereAre(0, one);
      expect(processesWith(two!)).toHaveLength(3);
      await Promise.all([second.kill('SIGTERM'), third.kill('SIGTERM')]);
      expect(processesWith(world.folder)).toEqual([]);
    });
  });
}
