import { expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { newFolder } from './support/jackdaw.js';

const FILES = {
  'hooks.spec.mjs': `
    describe('before', () => { beforeAll(() => { throw new Error('no'); }); it('a', () => {}); it('b', () => {}); });
    describe('after', () => { afterAll(() => { throw new Error('no'); }); it('c', () => {}); });
    describe.skip('left out', () => { it('d', () => {}); });
    it.todo('e');`,
  'broken.spec.mjs': `throw new Error('no'); it('f', () => {});`,
  'dead.spec.mjs': `it('g', () => process.kill(process.pid, 'SIGKILL') && new Promise(() => {}));`,
  'late.spec.mjs': `it('h', () => { setTimeout(() => { throw new Error('late'); }); return new Promise((done) => setTimeout(done, 50)); });`,
};

it('counts a test without its set-up as failed, and each broken file, clean-up, worker and late error', () => {
  const folder = newFolder();
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const vitest = ['run', '--globals', '--no-isolate', '--maxWorkers=2', '--reporter', resolve('.ci/reporter.mjs')];
  const report = join(folder, 'report.json');
  const { status } = spawnSync(process.execPath, [resolve('node_modules/vitest/vitest.mjs'), ...vitest], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TEST_REPORT: report },
  });
  const summary = spawnSync(process.execPath, ['.ci/report.mjs', String(status), report], { encoding: 'utf8' });
  expect(summary.stdout.trim().split('\n').toSorted()).toEqual([
    '2 passed, 7 failed, 2 skipped',
    'failed: [vitest-pool]: Worker forks emitted error.',
    'failed: broken.spec.mjs',
    'failed: dead.spec.mjs > g',
    'failed: hooks.spec.mjs > after',
    'failed: hooks.spec.mjs > before > a',
    'failed: hooks.spec.mjs > before > b',
    'failed: late',
    'skipped: hooks.spec.mjs > e',
    'skipped: hooks.spec.mjs > left out > d',
  ]);
  expect([status, summary.status]).toEqual([1, 1]);
  rmSync(folder, { recursive: true });
});

it('reports a run that died', () => {
  const { status, stdout } = spawnSync(process.execPath, ['.ci/report.mjs', '3', 'none.json'], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([
    3,
    'Vitest ended with code 3 and wrote no report: it died before its tests were done\n',
  ]);
});
