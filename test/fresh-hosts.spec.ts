import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { InstalledHost } from './support/installed-host.js';
import type { Ended } from './support/packed-consumer.js';
import { IS_LONG_FORM } from './support/long-form.js';

const INSTALLATION_MS = 600_000;
const PNPM = ['npm', 'exec', '--yes'] as const;

/** The commands of the package managers that install the dependencies of a package.json. */
const MANAGERS = {
  npm: ['npm', 'install'],
  'pnpm 10': [...PNPM, 'pnpm@10', 'install'],
  'pnpm 11': [...PNPM, 'pnpm@11', 'install'],
  'pnpm 12': [...PNPM, 'pnpm@12', 'install'],
} as const;
type Manager = keyof typeof MANAGERS;

interface Choice {
  readonly nest: 11 | 12;
  readonly platform: 'express' | 'fastify';
  readonly manager: Manager;
}

const every = (...managers: Manager[]): readonly Choice[] =>
  ([11, 12] as const).flatMap((nest) =>
    (['express', 'fastify'] as const).flatMap((platform) => managers.map((manager) => ({ nest, platform, manager }))),
  );
const WHOLE: readonly Choice[] = [
  ...every('npm', 'pnpm 12'),
  { nest: 12, platform: 'express', manager: 'pnpm 11' },
  { nest: 12, platform: 'express', manager: 'pnpm 10' },
];
/** The other Nest than that of this repository, and the manager that links declared dependencies only. */
const SHORT: readonly Choice[] = [{ nest: 11, platform: 'express', manager: 'pnpm 12' }];

/** `test/mount-docs.spec.ts` has programs that are modules. */
const TYPES = IS_LONG_FORM ? ['commonjs', 'module'] : ['commonjs'];
// Needs the registry, as CI does anyway.
const describeHosts = (IS_LONG_FORM || process.env['CI'] ? describe : describe.skip).each(IS_LONG_FORM ? WHOLE : SHORT);

describeHosts('a new application with Nest $nest, $platform and $manager', ({ nest, platform, manager }) => {
  let host: InstalledHost;
  let installed: Ended;

  beforeAll(async () => {
    host = await InstalledHost.create('test/fixtures/fresh-host');
    rmSync(`${host.folder}/src/${platform === 'express' ? 'fastify' : 'express'}.ts`);
    host.addDependencies({
      '@nestjs/common': `^${nest}.0.0`,
      '@nestjs/core': `^${nest}.0.0`,
      [`@nestjs/platform-${platform}`]: `^${nest}.0.0`,
    });
    const [command, ...args] = MANAGERS[manager];
    installed = await host.install(command, ...args);
  }, INSTALLATION_MS);
  afterAll(() => host.remove());

  it('installs Jackdaw without flags, conflicts, failures for build scripts and second copies of Nest', () => {
    const { code, output } = installed;
    expect([code, output.replace(PNPM_10, '')]).toEqual([0, expect.not.stringMatching(REFUSALS)]);
    expect(['@nestjs/common', '@nestjs/core'].map((name) => host.copiesOf(name).length)).toEqual([1, 1]);
  });

  if (manager === 'pnpm 12') {
    it('has no other wrong peer dependency than the driver of SQLite', async () => {
      const { output } = await host.install(...PNPM, 'pnpm@12', 'peers', 'check');
      expect(output.match(/^✕ .*/gm)).toEqual(['✕ unmet peer better-sqlite3']);
    });
  }

  it.each(TYPES)('serves an agent, its tool and the REST API as a program of type %s', async (type) => {
    rmSync(`${host.folder}/dist`, { recursive: true, force: true });
    host.changePackage({ type });
    expect(await host.run('node', ['node_modules/typescript/bin/tsc'])).toEqual({ code: 0, output: '' });
    const [server, url] = await host.start(`dist/${platform}.js`, {});
    const post = async (path: string, body: object, headers: object = {}) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
      const response = await fetch(`${url}${path}`, { ...init, body: JSON.stringify(body) });
      return [response.status, await response.json()];
    };
    const answer = JSON.stringify({ kind: 'lamps', count: 7 });
    expect(await post('/questions', { question: 'call count lamps' })).toEqual([201, { answer }]);
    const query = { query: 'call count lamps' };
    const served = await post('/assistant/agent/chat', query, { 'x-user': 'ann' });
    expect(served).toEqual([200, expect.objectContaining({ result: answer })]);
    expect(await post('/assistant/agent/chat', query)).toEqual([401, expect.objectContaining({ status: 401 })]);
    expect(await server.kill('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    expect(server.stderr).toBe('');
  });
});

/** Lines with which a package manager reports conflicts and scripts that it did not run. */
const REFUSALS = /ERESOLVE|ERR_|[Ii]gnored build|install-scripts|EBADENGINE|npm warn/;
/** pnpm 10 ignores that it contains its binaries. */
const PNPM_10 = /Ignored build scripts: better-sqlite3@\S+\./;
