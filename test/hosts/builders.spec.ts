import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { generateNestApp, NEST } from '../support/generated-nest-app.js';
import { InstalledHost } from '../support/installed-host.js';
import type { Ended } from '../support/packed-consumer.js';
import { killAll, ServerProcess } from '../support/process.js';

const INSTALLATION_MS = 600_000;
/** The command line of the application, which finds the builders that the application has installed. */
const CLI = 'node_modules/@nestjs/cli/bin/nest.js';
/** Larger than the application, and smaller than the application with any package in its bundle. */
const BUNDLE_BYTES = 100_000;
const BUILDERS = {
  cjs: [
    '@rspack/core',
    'fork-ts-checker-webpack-plugin',
    'run-script-webpack-plugin',
    'tsconfig-paths-webpack-plugin',
    'webpack',
    'webpack-node-externals',
  ],
  esm: ['@rspack/core', 'tsconfig-paths-webpack-plugin', 'webpack-node-externals'],
} as const;

const BUILDS = { cjs: ['--webpack', '--builder=rspack'], esm: ['--builder=rspack'] } as const;

afterEach(() => killAll());

/** An application of `nest new` with the agent of `nest add jackdaw`, and with the builders. */
async function install(type: 'cjs' | 'esm'): Promise<InstalledHost> {
  const generated = await generateNestApp(type, 'express');
  const host = await InstalledHost.create(generated);
  rmSync(dirname(generated), { recursive: true, force: true });
  await succeed(host.install('npm', 'install', host.tarball, ...BUILDERS[type]));
  await succeed(host.run('node', [NEST, 'add', 'jackdaw', '--skip-install']));
  printVersions(host, ['@nestjs/core', '@nestjs/cli', ...BUILDERS[type]]);
  return host;
}

async function succeed(command: Promise<Ended>): Promise<void> {
  const { code, output } = await command;
  if (code !== 0) throw new Error(output);
}

function printVersions({ folder }: InstalledHost, names: readonly string[]): void {
  const versionOf = (name: string) => {
    const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    return `${name} ${(JSON.parse(manifest) as { version: string }).version}`;
  };
  process.stdout.write(`Installed ${names.map(versionOf).join(', ')}\n`);
}

async function ask(url: string, question: string): Promise<object> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/assistant`, { method: 'POST', headers, body: JSON.stringify({ question }) });
  return (await response.json()) as object;
}

/** Runs a bundle, which must not contain packages, and calls its tool. */
async function expectAnswer(host: InstalledHost, bundle: string): Promise<void> {
  expect(statSync(join(host.folder, bundle)).size).toBeLessThan(BUNDLE_BYTES);
  const [server, url] = await host.start(bundle, { LLM_PROVIDER: 'offline' });
  expect(await ask(url, 'call weather Oslo')).toMatchObject({ answer: 'It rains in Oslo.' });
  await server.kill('SIGTERM');
  expect(server.stderr).toBe('');
}

describe.each(['cjs', 'esm'] as const)('an application of type %s with the builders of nest build', (type) => {
  let host: InstalledHost;
  beforeAll(async () => {
    host = await install(type);
  }, INSTALLATION_MS);
  afterAll(() => host.remove());

  it.each(BUILDS[type])(
    'calls its tool without a setting for Jackdaw: %s',
    async (option) => {
      const { code, output } = await host.run('node', [CLI, 'build', option]);
      expect([code, output]).toEqual([0, expect.not.stringMatching(/error/i)]);
      await expectAnswer(host, 'dist/main.js');
    },
    INSTALLATION_MS,
  );

  if (type === 'cjs') {
    it(
      'answers with the changed tool after each hot update, also with an open run',
      () => expectUpdates(host),
      INSTALLATION_MS,
    );
  }
});

async function expectUpdates(host: InstalledHost): Promise<void> {
  const tools = join(host.folder, 'src/assistant/weather.tools.ts');
  cpSync('test/fixtures/hot-host/webpack-hmr.config.js', join(host.folder, 'webpack-hmr.config.js'));
  cpSync('test/fixtures/hot-host/main.ts', join(host.folder, 'src/main.ts'));
  cpSync('test/fixtures/hot-host/weather.tools.ts', tools);
  const save = (from: string, to: string) => writeFileSync(tools, readFileSync(tools, 'utf8').replace(from, to));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { NO_COLOR: '1', PORT: String(port), LLM_PROVIDER: 'offline', JACKDAW_SHUTDOWN_TIMEOUT_MS: '2000' };
  const options = ['build', '--webpack', '--webpackPath', 'webpack-hmr.config.js', '--watch'];
  const watch = ServerProcess.start(CLI, { ...env, PATH: host.path }, options, host.folder);
  const started = async (count: number) => {
    await watch.waitForOutput(new RegExp(`(?:Listens at[^]*){${count}}|Error:|ERROR`));
    expect(watch.output).not.toMatch(/Error:|ERROR/);
  };

  await started(1);
  expect(await ask(url, 'call weather Oslo')).toMatchObject({ answer: 'It rains in Oslo.' });
  save('rains', 'snows');
  await started(2);
  expect(await ask(url, 'call weather Oslo')).toMatchObject({ answer: 'It snows in Oslo.' });

  const open = ask(url, 'call wait');
  await watch.waitForOutput(/Waits\./);
  save('snows', 'hails');
  await started(3);
  expect(await open).toMatchObject({ code: 'SHUTTING_DOWN' });
  expect(await ask(url, 'call weather Oslo')).toMatchObject({ answer: 'It hails in Oslo.' });
  // The new application resumes the open run.
  await watch.waitForOutput(/Waits\.[^]*Waits\./);
  expect(existsSync(join(host.folder, '.jackdaw/jackdaw.db'))).toBe(true);
}

describe('an application that Nx bundles with webpack', () => {
  let host: InstalledHost;
  beforeAll(async () => {
    host = await InstalledHost.create('test/fixtures/nx-host');
    await succeed(host.install('npm', 'install'));
    printVersions(host, ['nx', '@nx/webpack', 'webpack']);
  }, INSTALLATION_MS);
  afterAll(() => host.remove());

  it.each(['build', 'build-by-executor'])(
    'calls its tool without a setting for Jackdaw: %s',
    async (target) => {
      const env = { NX_DAEMON: 'false', NX_NO_CLOUD: 'true' };
      const { code, output } = await host.run('node', ['node_modules/nx/dist/bin/nx.js', 'run', `shop:${target}`], env);
      expect([code, output]).toEqual([0, expect.stringContaining('webpack compiled')]);
      await expectAnswer(host, `dist/${target}/main.js`);
    },
    INSTALLATION_MS,
  );
});
