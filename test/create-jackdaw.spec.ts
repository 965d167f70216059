import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../src/kernel/index.js';
import { SERVER_PACKAGES } from '../src/server/serve.js';
import { packInto, PackedConsumer, type PackageFile } from './support/packed-consumer.js';
import { ServerProcess } from './support/process.js';

let root: string;
let program: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'jackdaw-create-'));
  const tarball = await packInto(root, './create-jackdaw');
  spawnSync('tar', ['-xzf', tarball, '-C', root]);
  program = join(root, 'package/create.mjs');
});
afterAll(() => rmSync(root, { recursive: true }));

/** Calls the program as `npm create jackdaw` does. */
function create(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: root, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('npm create jackdaw', () => {
  it('writes an application that compiles, and whose agent calls its tool', async () => {
    const { status, stdout, stderr } = create('Your Agents');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^created {2}src\/main\.ts$[^]*^ {2}cd Your Agents$/m);
    expect(readdirSync(join(root, 'Your Agents'))).toEqual(expect.arrayContaining(['.env', '.gitignore', 'README.md']));
    const { name, dependencies } = JSON.parse(read('Your Agents/package.json')) as PackageFile & { name: string };
    expect([name, dependencies['jackdaw']]).toEqual(['your-agents', `^${VERSION}`]);
    const consumer = await PackedConsumer.create(join(root, 'Your Agents'));
    try {
      const { peerDependencies } = consumer.package();
      const own = Object.entries(dependencies).filter(([peer]) => peer !== 'jackdaw');
      expect(own.filter(([peer]) => !(peer in peerDependencies))).toEqual([]);
      expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(SERVER_PACKAGES));
      expect(consumer.node(['node_modules/typescript/bin/tsc'])).toEqual({ code: 0, output: '' });
      const env = { PORT: '0', LLM_PROVIDER: 'offline', LOG_FORMAT: 'json', LOG_LEVEL: 'info' };
      const server = ServerProcess.start('dist/main.js', env, [], consumer.folder);
      await server.waitForOutput(/Jackdaw serves \S+:\d+/);
      const [, url = ''] = /Jackdaw serves (http:\/\/[\d.]+:\d+)/.exec(server.output)!;
      const response = await fetch(`${url}/api/agent/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'call weather Oslo' }),
      });
      expect(await response.json()).toMatchObject({ result: 'Sunny in Oslo, 24 °C' });
      // The command line calls the server of .env.
      writeFileSync(join(consumer.folder, '.env'), read('Your Agents/.env').replace('http://localhost:3000', url));
      expect(consumer.node(['node_modules/jackdaw/lib/cli.js', 'chat', 'call weather Rome']).output).toContain('Rome');
      expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 });
    } finally {
      consumer.remove();
    }
  });

  it('changes no folder that has files, and accepts an empty one', () => {
    spawnSync('mkdir', ['-p', join(root, 'used/.git'), join(root, 'full')]);
    expect(create('used').status).toBe(0);
    writeFileSync(join(root, 'full/notes.md'), 'mine');
    expect(create('full')).toMatchObject({ status: 1, stderr: expect.stringContaining('is not empty') });
    expect(readdirSync(join(root, 'full'))).toEqual(['notes.md']);
    expect(create('used').status).toBe(1);
  });

  it('explains its use, and refuses unknown options', () => {
    expect(create('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage: npm create jackdaw') });
    expect(create('--colour')).toMatchObject({ status: 1, stderr: expect.stringContaining('Usage:') });
    expect(create('a', 'b')).toMatchObject({ status: 1, stderr: expect.stringContaining('too many arguments') });
    expect(readdirSync(root)).not.toContain('a');
  });

  it('has the version and the licence of Jackdaw, and is small', () => {
    expect(JSON.parse(read('package/package.json'))).toMatchObject({ version: VERSION });
    expect(read('package/LICENSE')).toBe(readFileSync('LICENSE', 'utf8'));
    expect(statSync(program).size).toBeLessThan(4_000);
  });
});
