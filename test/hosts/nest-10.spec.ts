import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { InstalledHost } from '../support/installed-host.js';
import { ServerProcess } from '../support/process.js';

const INSTALLATION_MS = 600_000;
const REFUSED =
  /Jackdaw needs Nest 11 or 12; this application has @nestjs\/core 10\.\d+\.\d+: upgrade its Nest packages, as with npm install @nestjs\/common@12 @nestjs\/core@12\./;

describe('an application with Nest 10', () => {
  let host: InstalledHost;

  beforeAll(async () => {
    host = await InstalledHost.create('test/fixtures/fresh-host');
    rmSync(`${host.folder}/src/fastify.ts`);
    const nest = ['common', 'core', 'platform-express'].map((name) => [`@nestjs/${name}`, '^10.4.0']);
    host.addDependencies(Object.fromEntries(nest));
  });
  afterAll(() => host.remove());

  it(
    'is refused by npm, which names the peer dependency',
    async () => {
      const { code, output } = await host.install('npm', 'install');
      expect([code, output]).toEqual([1, expect.stringMatching(/peer @nestjs\/common@.* from jackdaw/)]);
    },
    INSTALLATION_MS,
  );

  it(
    'is refused at its start, if it was installed in spite of it',
    async () => {
      const installed = await host.install('npm', 'exec', '--yes', 'pnpm@12', 'install');
      expect(installed.output).toContain('Issues with peer dependencies found');
      expect(await host.run('node', ['node_modules/typescript/bin/tsc'])).toEqual({ code: 0, output: '' });
      const server = ServerProcess.start('dist/express.js', {}, [], host.folder);
      expect(await server.ended).toEqual({ code: 1, signal: null });
      expect(server.stderr).toMatch(REFUSED);
      expect(server.stderr).not.toMatch(/^\s+at /m);
      expect(server.lines).toEqual([]);
    },
    INSTALLATION_MS,
  );
});
