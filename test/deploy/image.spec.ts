import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile, spawn } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { packInto } from '../support/packed-consumer.js';

const run = promisify(execFile);
const NOBODY = 65532;

interface Problem {
  readonly message: string;
  readonly range: { readonly start: { readonly line: number } };
}

it('the Dockerfile has no problem that its linter finds', () => {
  const { validate } = createRequire(import.meta.url)('dockerfile-utils') as {
    validate: (text: string) => Problem[];
  };
  const problems = validate(readFileSync('deploy/Dockerfile', 'utf8'));
  expect(problems.map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
});

/** The files of the image, as its first stage makes them, run as the image runs them. There is no container engine. */
describe('the files of the image', () => {
  let root: string;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'jackdaw-image-'));
    chmodSync(root, 0o755);
    const app = join(root, 'app');
    mkdirSync(app);
    for (const file of ['package.json', 'package-lock.json', '.npmrc', 'prune.mjs'])
      cpSync(`deploy/${file}`, join(app, file));
    await packInto(app);
    await run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: app });
    await run(process.execPath, ['prune.mjs'], { cwd: app });
    mkdirSync(join(root, 'data'));
    chownSync(join(root, 'data'), NOBODY, NOBODY);
  }, 600_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('have at most 200 MB, without development packages and source maps', async () => {
    const { stdout } = await run('du', ['-sm', join(root, 'app')]);
    expect(parseInt(stdout, 10)).toBeLessThanOrEqual(200);
    const { stdout: found } = await run('find', [join(root, 'app'), '-name', '*.map', '-o', '-name', 'vitest']);
    expect(found).toBe('');
  });

  it('serve as PID 1 with uid 65532 on a read-only root, and end with 0 on SIGTERM', async () => {
    const node = process.execPath;
    const mounts = ['/usr', '/lib', '/lib64', '/bin', '/etc'].flatMap((path) => ['--ro-bind-try', path, path]);
    const box = [...mounts, '--ro-bind', dirname(dirname(node)), '/nodejs', '--ro-bind', join(root, 'app'), '/app'];
    const isolation = ['--unshare-pid', '--as-pid-1', '--unshare-user', '--uid', `${NOBODY}`, '--gid', `${NOBODY}`];
    const rest = [
      '--bind',
      join(root, 'data'),
      '/data',
      '--tmpfs',
      '/tmp',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--chdir',
      '/app',
    ];
    const server = spawn(
      'bwrap',
      [...box, ...rest, ...isolation, '--die-with-parent', '/nodejs/bin/node', 'node_modules/jackdaw/lib/main.js'],
      {
        env: { NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', DATA_DIR: '/data', LOG_FORMAT: 'json' },
        uid: NOBODY,
        gid: NOBODY,
      },
    );
    let output = '';
    server.stderr.on('data', (piece: Buffer) => (output += String(piece)));
    server.stdout.on('data', (piece: Buffer) => (output += String(piece)));
    const ended = once(server, 'exit');
    const url = await new Promise<string>((resolve, reject) => {
      server.stdout.on('data', () => {
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
        if (found) resolve(found);
      });
      void ended.then(() => reject(new Error(output)));
    });
    const response = await fetch(`${url}/api/agent/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '6 * 7' }),
    });
    expect(await response.json()).toMatchObject({ result: expect.stringContaining('42') });
    const [pid] = (await run('pgrep', ['-P', `${server.pid}`])).stdout.trim().split('\n');
    process.kill(Number(pid), 'SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
