import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServedWorld, statusOf, until } from './served-world.js';

const READY = '/api/health/ready';
const MEGABYTE = 1024 * 1024;
const canMount = process.platform === 'linux' && process.getuid?.() === 0 && mountWorks();
const why = canMount ? '' : ' (skipped: this user may not mount a file system)';

function mountWorks(): boolean {
  const { status } = spawnSync('unshare', ['--mount', 'true']);
  return status === 0;
}

(canMount ? describe : describe.skip)(`a server on a full disk${why}`, () => {
  // Before the world removes the folder.
  afterEach(() => {
    spawnSync('umount', ['-l', world.dataDir]);
  });
  const world = ServedWorld.prepare();
  beforeEach(() => {
    mkdirSync(world.dataDir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=80m', 'tmpfs', world.dataDir]);
  });

  it('answers 503 while the disk is full, loses nothing, and is ready within two seconds of free space', async () => {
    const server = await world.start();
    expect(await statusOf(server, READY)).toBe(200);
    const filler = join(world.dataDir, 'filler');
    fill(filler);
    const accepted: string[] = [];
    let refused: unknown[] = [];
    await until(async () => {
      const { status, body } = await server.chat({ query: 'send', sessionId: `s${accepted.length}` });
      if (status === 200) accepted.push(String(body['run_id']));
      else refused = [status, body['code']];
      return status !== 200;
    });
    expect(refused).toEqual([503, 'STORAGE_UNAVAILABLE']);
    expect(await statusOf(server, READY)).toBe(503);
    await Promise.all(Array.from({ length: 100 }, () => server.post('/api/sessions', {})));
    rmSync(filler);
    await until(async () => (await statusOf(server, READY)) === 200);
    expect((await server.chat({ query: 'send' })).status).toBe(200);
    for (const id of accepted) expect((await server.get(`/api/runs/${id}`)).body['status']).toBe('completed');
    const { body } = await server.get('/api/runs?limit=100');
    const runs = (body as { runs?: { status: string }[] }).runs ?? [];
    expect(runs.filter(({ status }) => status === 'running')).toEqual([]);
    const lines = server.lines.filter((line) => /"level":(4|5|6)0/.test(line) && !line.includes('request failed'));
    expect(lines.length).toBeLessThanOrEqual(20);
  });
});

function fill(file: string): void {
  for (let n = 0; n < 80; n++) {
    try {
      writeFileSync(file, Buffer.alloc(MEGABYTE), { flag: 'a' });
    } catch {
      break;
    }
  }
}
