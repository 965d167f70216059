import { afterEach, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { InstalledHost } from '../support/installed-host.js';
import { packInto } from '../support/packed-consumer.js';

const INSTALLATION_MS = 600_000;
const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;

let root = '';
let host: InstalledHost | undefined;
afterEach(() => {
  host?.remove();
  rmSync(root, { recursive: true, force: true });
});

it(
  'npm create jackdaw writes an application that npm install and npm start bring up',
  async () => {
    root = mkdtempSync(join(tmpdir(), 'jackdaw-create-'));
    const creator = await packInto(root, './create-jackdaw');
    const args = ['exec', '--yes', '--package', creator, '--', 'create-jackdaw', 'my-agents'];
    execFileSync('npm', args, { cwd: root, env: { ...process.env, PATH } });
    host = await InstalledHost.create(join(root, 'my-agents'));
    host.addDependencies({ jackdaw: `file:${host.tarball}` });
    const installed = await host.install('npm', 'install', '--no-audit', '--no-fund');
    expect([installed.code, installed.output]).toEqual([0, expect.not.stringMatching(/ERESOLVE|EBADENGINE/)]);
    expect(await host.run('npm', ['run', '-s', 'build'])).toEqual({ code: 0, output: '' });
    const server = await host.serve('dist/main.js', { LLM_PROVIDER: 'offline' });
    const called = await host.run('npx', ['jackdaw', 'chat', 'call weather Oslo'], { JACKDAW_URL: server.url });
    expect(called).toEqual({ code: 0, output: 'Sunny in Oslo, 24 °C\n' });
    const doctor = await host.run('npx', ['jackdaw', 'doctor'], { JACKDAW_URL: server.url });
    expect(doctor).toMatchObject({ code: 0, output: expect.stringMatching(/^ok +server /m) });
    expect(await server.process.kill('SIGTERM')).toMatchObject({ code: 0 });
  },
  INSTALLATION_MS,
);
