import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from './support/free-port.js';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale, killAll, program, ServerProcess } from './support/process.js';

let folder: string;
let port: number;
beforeAll(buildIfStale);
beforeEach(async () => {
  folder = newFolder();
  port = await freePort();
  return async () => {
    await killAll();
    rmSync(folder, { recursive: true });
  };
});

const LONG = { SHUTDOWN_GRACE_MS: '9000', SHUTDOWN_TIMEOUT_MS: '9000' };
const env = (more: Readonly<Record<string, string>> = {}) => ({
  PORT: '0',
  DATA_DIR: folder,
  LLM_PROVIDER: 'offline',
  HEALTH_PORT: String(port),
  ...more,
});

async function start(more?: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const server = ServerProcess.start(program('health-app'), env(more), [], undefined, 'pipe');
  await server.waitForLine('ready ');
  return server;
}

/** The status of a health check on a port. */
async function status(check: 'live' | 'ready', origin = `http://127.0.0.1:${port}`, prefix = ''): Promise<number> {
  const response = await fetch(`${origin}${prefix}/api/health/${check}`);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  await response.json();
  return response.status;
}

async function becomes(expected: number, check: () => Promise<number>): Promise<void> {
  while ((await check()) !== expected);
}

/** The second port, with a limit of 3 s. */
function strictOf(server: ServerProcess): string {
  return server.lines.find((line) => line.startsWith('strict '))!.slice('strict '.length);
}

describe('HEALTH_PORT', () => {
  it('answers while the event loop is blocked, and reports a block beyond its limits', async () => {
    const server = await start();
    const strict = strictOf(server);
    await becomes(200, () => status('ready'));
    await becomes(200, () => status('ready', strict));
    const file = join(folder, 'go');
    server.write(`block ${file}\n`);
    await server.waitForLine('blocked');
    let isAnswered = false;
    const onMainPort = server.get('/api/health/live').then((answer) => {
      isAnswered = true;
      return answer.status;
    });
    await becomes(503, () => status('ready', strict));
    await becomes(503, () => status('live', strict));
    expect(await status('live')).toBe(200);
    expect(isAnswered).toBe(false);
    writeFileSync(file, '');
    expect(await onMainPort).toBe(200);
    await becomes(200, () => status('live', strict));
    await becomes(200, () => status('ready', strict));
  });

  it('reports no block after the process was suspended', async () => {
    const server = await start();
    const strict = strictOf(server);
    await becomes(200, () => status('ready', strict));
    server.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    server.signal('SIGCONT');
    expect(await status('live', strict)).toBe(200);
    expect(await status('ready', strict)).toBe(200);
  });

  it('is not ready from SIGTERM on, and is alive until the end', async () => {
    const server = await start(LONG);
    await becomes(200, () => status('ready'));
    void server.kill('SIGTERM');
    await becomes(503, () => status('ready'));
    expect(await status('live')).toBe(200);
    expect(await server.kill('SIGTERM')).toEqual({ code: 143, signal: null });
  });

  it('does not keep a process alive whose server was closed', async () => {
    const server = await start();
    server.write('close\n');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  it('serves only the health checks, below the prefix', async () => {
    await start({ HTTP_PREFIX: '/base' });
    const origin = `http://127.0.0.1:${port}`;
    expect(await status('live', origin, '/base')).toBe(200);
    expect(await status('live')).toBe(404);
    expect((await fetch(`${origin}/base/api/agents`)).status).toBe(404);
    expect((await fetch(`${origin}/base/api/health/live`, { method: 'POST' })).status).toBe(405);
  });

  it.each(['dist', 'lib'])('is served by %s, and ends with the server', async (build) => {
    const server = ServerProcess.start(`${build}/main.js`, env({ LOG_LEVEL: 'info' }));
    await server.waitForOutput(/Jackdaw serves/);
    await becomes(200, () => status('ready'));
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    await expect(status('live')).rejects.toThrow('fetch failed');
  });
});

describe('HEALTH_PORT in use', () => {
  const taken = createServer();
  afterAll(() => taken.close());

  it('fails the start with a clear error', async () => {
    taken.listen(port, '127.0.0.1');
    await once(taken, 'listening');
    expect((taken.address() as AddressInfo).port).toBe(port);
    const server = ServerProcess.start('dist/main.js', env());
    expect((await server.ended).code).toBe(1);
    expect(server.stderr).toContain(
      `The health checks cannot be served on port ${port} of 127.0.0.1 (HEALTH_PORT, HEALTH_HOST): listen EADDRINUSE`,
    );
  });
});
