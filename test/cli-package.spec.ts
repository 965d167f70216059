import { afterAll, beforeAll, expect, it } from 'vitest';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { VERSION } from '../src/kernel/index.js';
import { SERVER_PACKAGES } from '../src/server/serve.js';
import { PackedConsumer, type PackageFile } from './support/packed-consumer.js';

let consumer: PackedConsumer;
let folder: string;

beforeAll(async () => {
  consumer = await PackedConsumer.create('test/fixtures/consumer', SERVER_PACKAGES);
  // npm links the programs of the installed packages.
  execFileSync('npm', ['rebuild', 'jackdaw', '--ignore-scripts', '--offline'], { cwd: consumer.folder });
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-empty-'));
});
afterAll(() => {
  consumer.remove();
  rmSync(folder, { recursive: true });
});

it('npx jackdaw init, doctor and chat of the packed package work in an empty folder', () => {
  const bin = join(consumer.folder, 'node_modules/.bin');
  const script = 'jackdaw init && jackdaw doctor && echo "6*7" | jackdaw chat';
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter), PORT: '0' },
  });
  expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([0, '42']);
  expect(stderr).toBe('Next: npm install, npx jackdaw doctor, npx jackdaw chat, npx jackdaw serve\n');
  expect(existsSync(join(folder, 'data/jackdaw.db'))).toBe(true);
});

it('a project of jackdaw init depends on the peers of the server, in versions of the package', () => {
  const { jackdaw, ...peers } = (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile)
    .dependencies;
  const { peerDependencies } = consumer.package();
  expect(jackdaw).toBe(`^${VERSION}`);
  expect(Object.keys(peers)).toEqual(expect.arrayContaining(SERVER_PACKAGES));
  expect(
    Object.entries(peers).filter(([name, range]) => !peerDependencies[name]?.split(' || ').includes(range)),
  ).toEqual([]);
});

it('names the missing packages of the server', async () => {
  const lean = await PackedConsumer.create('test/fixtures/consumer');
  const { code, output } = lean.node(['node_modules/jackdaw/lib/cli.js', 'agents']);
  lean.remove();
  expect([code, output]).toEqual([1, expect.stringContaining('npm install @nestjs/platform-fastify @nestjs/terminus')]);
});
