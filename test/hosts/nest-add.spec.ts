import { afterEach, describe, expect, it } from 'vitest';
import { dirname } from 'node:path';
import { rmSync } from 'node:fs';
import { generateNestApp, NEST } from '../support/generated-nest-app.js';
import { InstalledHost } from '../support/installed-host.js';

const INSTALLATION_MS = 600_000;

describe('nest add jackdaw', () => {
  let host: InstalledHost | undefined;
  let generated = '';
  afterEach(() => {
    host?.remove();
    rmSync(dirname(generated), { recursive: true, force: true });
  });

  it.each([
    ['esm', 'express'],
    ['esm', 'fastify'],
    ['cjs', 'express'],
    ['cjs', 'fastify'],
  ] as const)(
    'adds an agent to a %s application on %s',
    async (type, platform) => {
      generated = await generateNestApp(type, platform);
      host = await InstalledHost.create(generated);
      const installed = await host.install('npm', 'install', host.tarball);
      expect([installed.code, installed.output]).toEqual([0, expect.not.stringMatching(/ERESOLVE|EBADENGINE/)]);
      expect(await host.run('node', [NEST, 'add', 'jackdaw', '--skip-install'])).toMatchObject({ code: 0 });
      expect(await host.run('node', [NEST, 'build'])).toEqual({ code: 0, output: '' });
      const [server, url] = await host.start('dist/main.js', { LLM_PROVIDER: 'offline' });
      const response = await fetch(`${url}/assistant`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ question: 'call weather Oslo' }),
      });
      expect(await response.json()).toMatchObject({ answer: 'It rains in Oslo.' });
      await server.kill('SIGTERM');
    },
    INSTALLATION_MS,
  );
});
