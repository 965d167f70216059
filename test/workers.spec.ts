import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clusterStores, PATIENCE } from './support/cluster-stores.js';
import { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { oldClient } from './support/mcp-clients.js';
import { freePort } from './support/free-port.js';
import { inShortForm } from './support/long-form.js';
import { gate } from './support/jackdaw.js';
import { scrape, seriesIn } from './support/metrics.js';
import { PaceOfChats, WorkerServer } from './support/worker-server.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';

const world = ProcessWorld.prepare();
const stores = await clusterStores();

/** A model that calls a tool, then answers. */
function callOf(name: string, input: Readonly<Record<string, unknown>>) {
  return ({ messages }: FakeRequest): FakeReply =>
    messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [{ name, arguments: input }] };
}

describe('WORKERS=2', () => {
  world.share(stores.find(({ name }) => name === 'postgres')!);
  const start = (more: Readonly<Record<string, string>> = {}) =>
    WorkerServer.start(
      world.env({ WORKERS: '2', CLUSTER_LEASE_MS: '5000', CLUSTER_CHECK_MS: '300', ...PATIENCE, ...more }),
    );

  it('serves one port with two processes, and ends with both at SIGTERM', async () => {
    world.llm.always(callOf('send_parcel', { to: 'x' }));
    const server = await start();
    const pids = server.pids();
    expect(pids).toHaveLength(2);
    const used = () => new Set(world.effects().map((line) => Number(line.split(' ')[1])));
    do {
      const chats = await Promise.all(Array.from({ length: 4 }, () => server.chat('send it')));
      expect(chats.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    } while (used().size < 2);
    expect(used()).toEqual(new Set(pids));

    expect(await server.process.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it('waits for executing runs at SIGTERM, and rejects new ones', async () => {
    const server = await start({ SHUTDOWN_GRACE_MS: '9000', SHUTDOWN_TIMEOUT_MS: '9000' });
    const reply = gate();
    world.llm.reply({ gate: reply.opened, text: 'in time' });
    const running = server.chat('hold on');
    await world.llm.waitForRequest();
    const ended = server.process.kill('SIGTERM');
    while ((await server.request('GET', '/api/health/ready')).status !== 503);
    expect(await server.chat('me too')).toMatchObject({ status: 503, body: { code: 'SHUTTING_DOWN' } });
    reply.open();
    expect(await running).toMatchObject({ status: 200, body: { result: 'in time' } });
    void server.process.kill('SIGTERM');
    expect(await ended).toEqual({ code: 143, signal: null });
  });

  it('finishes the runs of a killed worker elsewhere, and replaces it', async () => {
    world.llm.always(callOf('send_parcel', { to: 'x', waitMs: 200 }));
    const server = await start();
    const [first, second] = server.pids();
    const runs = await Promise.all(
      Array.from({ length: 8 }, () => server.request('POST', '/api/agent/runs', { query: 'send it' })),
    );
    process.kill(first!, 'SIGKILL');
    // New connections go to the others at once.
    for (let n = 0; n < 4; n++) expect((await server.request('GET', '/api/health/ready')).status).toBe(200);
    for (const { status, body } of runs) {
      expect(status).toBe(202);
      const runId = String(body['run_id']);
      expect((await (await server.process.follow(runId)).all()).at(-1)).toMatchObject({ event: 'run.completed' });
    }
    await server.waitFor((pids) => pids.length === 2 && !pids.includes(first!));
    expect(server.pids()).toContain(second);
  });

  it('replaces the workers one by one at SIGUSR2 without a failed request', async () => {
    world.llm.always({ text: 'hello' });
    // No takeover, however busy the machine is.
    const server = await start({ CLUSTER_LEASE_MS: '60000' });
    const before = server.pids();
    const chats = PaceOfChats.start(server, 4);
    await chats.atLeast(20);
    process.kill(server.process.pid, 'SIGUSR2');
    await server.waitFor((pids) => pids.length === 2 && pids.every((pid) => !before.includes(pid)));
    const { done } = chats;
    await chats.atLeast(done + 20);
    expect(new Set(await chats.stop())).toEqual(new Set(['200']));
  });

  it('serves health checks and the metrics of all workers on their own ports', async () => {
    const [health, metrics] = [await freePort(), await freePort()];
    world.llm.always({ text: 'hello' });
    const server = await start({ HEALTH_PORT: String(health), METRICS_PORT: String(metrics) });
    for (let n = 0; n < 6; n++) await server.chat('hi');
    for (const check of ['live', 'ready']) {
      const url = `http://127.0.0.1:${health}/api/health/${check}`;
      while ((await fetch(url)).status !== 200);
    }
    for (const url of [`http://127.0.0.1:${metrics}`, server.process.url]) {
      const series = seriesIn(await scrape(url));
      const counts = [1, 2].map((worker) =>
        series.get(`jackdaw_runs_total{worker="${worker}",status="completed",agent="default"}`),
      );
      expect(counts).toEqual([3, 3]);
      expect(series.get('jackdaw_runs_active{worker="1"}')).toBe(0);
    }
    expect(await server.process.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('serves each request about a run by any worker', async () => {
    world.llm.always(callOf('approve_parcel', { to: 'x' }));
    const server = await start();
    for (let n = 0; n < 4; n++) {
      const { status, body } = await server.chat('approve it');
      expect(status).toBe(202);
      const runId = body['run_id']!;
      const follower = await server.process.follow(runId);
      expect((await server.request('POST', `/api/runs/${runId}/approve`, {})).status).toBe(202);
      await follower.waitFor('run.waiting');
      const events = await (await server.process.follow(runId, follower.events.at(-1)!.id!)).all();
      expect(events.at(-1)).toMatchObject({ event: 'run.completed' });
    }
    world.llm.reset();
    world.llm.always({ hang: true });
    for (let n = 0; n < 4; n++) {
      const { body } = await server.request('POST', '/api/agent/runs', { query: 'hold on' });
      const runId = String(body['run_id']);
      const follower = await server.process.follow(runId);
      await follower.waitFor('run.started');
      expect((await server.request('POST', `/api/runs/${runId}/cancel`, {})).status).toBe(202);
      await follower.waitFor('run.cancelled');
    }
  });

  it('serves an MCP session on connections to any worker', async () => {
    const server = await start();
    // Each request opens a connection.
    const client = await oldClient(server.process.url, { headers: { connection: 'close' } });
    for (let n = 0; n < 8; n++) {
      const calls = [1, 2].map((to) => client.callTool({ name: 'send_parcel', arguments: { to: `${n}.${to}` } }));
      const texts = (await Promise.all(calls)).map(({ content }) => (content as { text: string }[])[0]?.text);
      expect(texts).toEqual([`sent to ${n}.1`, `sent to ${n}.2`]);
    }
    // The session is in the memory of one worker.
    expect(new Set(world.effects().map((line) => line.split(' ')[1])).size).toBe(1);
    await client.close();
  });
});

describe('the supervisor', () => {
  it('loads only modules of Node besides its own few files', () => {
    const entries = ['dist/server/supervisor/supervise.js', 'dist/config/worker.loader.js'];
    const { files, packages } = importsFrom(entries);
    expect(packages.filter((name) => !name.startsWith('node:'))).toEqual([]);
    expect(files.length).toBeLessThan(15);
  });
});

describe('WORKERS', () => {
  it('ends the start on SQLite with one line that names DATABASE_URL', async () => {
    const server = ServerProcess.start('dist/main.js', world.env({ WORKERS: '2', PORT: '0' }));
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.stderr).toMatch(/^The configuration has a mistake .*\n {2}WORKERS: "2" .* set DATABASE_URL .*\n$/);
  });

  it('reports a wrong configuration once', async () => {
    const server = ServerProcess.start('dist/main.js', world.env({ WORKERS: '3', PORT: 'x' }));
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.stderr.match(/PORT: "x"/g)).toHaveLength(1);
  });

  it.each(inShortForm(2, ['0', 'all', '257', '-1', '1.5']))('refuses %s', async (WORKERS) => {
    const server = ServerProcess.start('dist/main.js', world.env({ WORKERS, PORT: '0' }));
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.stderr).toContain(`WORKERS: "${WORKERS}" is not allowed: give an integer from 1 to 256, or auto`);
  });
});

/** The files that these load at their start, and the packages. */
function importsFrom(entries: readonly string[]): { files: readonly string[]; packages: readonly string[] } {
  const files = new Set(entries);
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (?:[^;]* from )?'([^']+)';$/gms,
    )) {
      if (target.startsWith('.')) files.add(join(dirname(file), target));
      else packages.add(target);
    }
  }
  return { files: [...files], packages: [...packages] };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
