import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PackedConsumer } from '../support/packed-consumer.js';

const FIXTURE = 'test/fixtures/bundled-host';

describe('an application that esbuild bundles with Jackdaw', () => {
  let consumer: PackedConsumer;
  let target: string;
  beforeAll(async () => {
    consumer = await PackedConsumer.create(FIXTURE);
    target = mkdtempSync(join(tmpdir(), 'jackdaw-bundle-'));
  });
  afterAll(() => {
    consumer.remove();
    rmSync(target, { recursive: true, force: true });
  });

  it('runs its tools in a folder with no other package than the driver of SQLite', () => {
    expect(consumer.compile()).toEqual({ code: 0, output: '' });
    expect(consumer.node(['bundle.mjs'])).toEqual({ code: 0, output: '' });
    cpSync(join(consumer.folder, 'bundle'), join(target, 'bundle'), { recursive: true });
    writeFileSync(join(target, 'package.json'), '{ "type": "module" }');
    mkdirSync(join(target, 'node_modules'));
    symlinkSync(realpathSync('node_modules/better-sqlite3-v13'), join(target, 'node_modules/better-sqlite3-v13'));
    const { status, stdout, stderr } = spawnSync(process.execPath, ['bundle/main.js'], {
      cwd: target,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual(['42', 'by Lem', expect.stringContaining('"arguments.id" must be <= 10'), '']);
  });

  it('is built by the program in the documentation', () => {
    const guide = readFileSync('docs/host-application.md', 'utf8');
    expect(guide).toContain(`\`\`\`js\n${readFileSync(join(FIXTURE, 'bundle.mjs'), 'utf8')}\`\`\`\n`);
  });
});
