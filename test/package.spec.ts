import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PackedConsumer } from './support/packed-consumer.js';
import { describeDatabases, testServers } from './support/test-databases.js';

/** Type instantiations of Nest, Node and the common imports of a consumer, doubled to leave room for our own. */
const INSTANTIATIONS = { withoutLibraries: 20_000, withLibraries: 400_000 };
/** Size of the client, for pages that load it without a bundler. */
const CLIENT_BYTES = 30_000;
/** Imports and exports as esbuild and the script of the declarations write them. */
const IMPORTED =
  /^(?:(?:import|export) .*|\} )?(?:from|import) ["'](?<at>[^."'\n][^"'\n]*)["'];$|\bimport\(["'](?<later>[^."'\n][^"'\n]*)["']\)/gm;
const NEST_10 =
  'Jackdaw needs Nest 11 or 12; this application has @nestjs/core 10.4.22: upgrade its Nest packages, as with npm install @nestjs/common@12 @nestjs/core@12.';
const TOP_LEVEL = /^(?:@[^/]+\/)?[^/]+/;

const onPostgres = (await testServers()).filter(({ kind }) => kind === 'postgres');

/** The package as a consumer installs it: packed, in a project with its declared dependencies only. */
describe('the package', () => {
  let consumer: PackedConsumer;

  beforeAll(async () => {
    consumer = await PackedConsumer.create('test/fixtures/consumer', ['@nestjs/testing']);
  });
  afterAll(() => consumer.remove());

  it('contains the compiled code, one declaration file per entry and the documents', () => {
    const kind = (path: string) =>
      path.replace(/^(lib\/console\/app|docs|schematics)\/.*/, '$1/*').replace(/^lib\/[^/]*\.(c?js)$/, 'lib/*.$1');
    expect([...new Set(consumer.files.map(kind))].toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'README.zh-CN.md',
      'docs/*',
      'lib/*.cjs',
      'lib/*.js',
      'lib/client.d.cts',
      'lib/client.d.ts',
      'lib/console/app/*',
      'lib/index.d.cts',
      'lib/index.d.ts',
      'lib/testing.d.cts',
      'lib/testing.d.ts',
      'lib/tool.d.cts',
      'lib/tool.d.ts',
      'package.json',
      'schematics/*',
    ]);
    expect(consumer.files.filter((path) => path.includes('.spec.'))).toEqual([]);
    const code = consumer.files.filter((path) => path.endsWith('.js'));
    // Bundled: few large files load faster than the 1,100 of dist/.
    // With the supervisor of workers and A2A, which are loaded when used.
    expect(code.length).toBeLessThan(330);
    expect(code.filter((path) => consumer.read(path).includes('sourceMappingURL'))).toEqual([]);
  });

  it('declares every package that its code imports', () => {
    const { dependencies, peerDependencies, scripts } = consumer.package();
    const code = consumer.files.filter((path) => path.endsWith('.js') || path.endsWith('.d.ts'));
    const imported = code.flatMap((path) =>
      [...consumer.read(path).matchAll(IMPORTED)].map(({ groups }) => groups?.['at'] ?? groups?.['later'] ?? ''),
    );
    const packages = new Set(
      imported.filter((name) => !name.startsWith('node:')).map((name) => TOP_LEVEL.exec(name)?.[0]),
    );
    expect(packages.size).toBeGreaterThan(20);
    // Files that `jackdaw init` writes import Jackdaw itself.
    const declared = ['jackdaw', ...Object.keys(dependencies), ...Object.keys(peerDependencies)];
    expect([...packages].filter((name) => !declared.includes(name!))).toEqual([]);
    expect(Object.keys(scripts).filter((name) => /^((pre|post)?install|prepare)$/.test(name))).toEqual([]);
  });

  it('type-checks in the strictest project, including libraries', () => {
    const own = consumer.compile('--noEmit', '--skipLibCheck', '--extendedDiagnostics');
    const whole = consumer.compile('--extendedDiagnostics');
    expect([own, whole]).toMatchObject([{ code: 0 }, { code: 0 }]);
    const figures = { without: figuresOf(own.output), with: figuresOf(whole.output) };
    process.stdout.write(`A consumer's tsc, without and with libraries checked: ${JSON.stringify(figures)}\n`);
    expect(figures.without.instantiations).toBeLessThan(INSTANTIATIONS.withoutLibraries);
    expect(figures.with.instantiations).toBeLessThan(INSTANTIATIONS.withLibraries);
  });

  it('exports the types of its signatures, so that a library of the application can declare their results', () => {
    const { code, output } = consumer.compile(
      '--declaration',
      '--emitDeclarationOnly',
      '--skipLibCheck',
      '--outDir',
      'types',
    );
    expect([code, output]).toEqual([0, '']);
    const types = readFileSync(join(consumer.folder, 'types/inferred.d.ts'), 'utf8');
    expect(types).toContain('list: Promise<import("jackdaw").RunPage>');
  });

  it('has a client for browsers: without imports, and with types that need those of the DOM only', () => {
    for (const file of ['lib/client.js', 'lib/client.cjs', 'lib/client.d.ts'])
      expect([file, ts.preProcessFile(consumer.read(file), true, true).importedFiles]).toEqual([file, []]);
    expect(statSync(join(consumer.folder, 'node_modules/jackdaw/lib/client.js')).size).toBeLessThan(CLIENT_BYTES);
    const compilerOptions = {
      strict: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      target: 'es2023',
      types: [],
    };
    const lib = ['es2023', 'dom', 'dom.iterable'];
    writeFileSync(
      join(consumer.folder, 'tsconfig.page.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, lib, noEmit: true }, files: ['client.ts'] }),
    );
    const compiled = consumer.node(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.page.json']);
    expect([compiled.code, compiled.output]).toEqual([0, '']);
  });

  it('runs in that project', () => {
    const { code, output } = consumer.node(['whole-index.js']);
    expect(output.split('\n')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^42 .*2.* 42 /),
        'clerk,buyer true string',
        'ollama:qwen3',
        'VALIDATION_FAILED',
        'researcher',
        'function,silent,function',
        '7 rules of a cache',
      ]),
    );
    expect(code).toBe(0);
  });

  it('has types and code for every kind of resolution, of ES modules and of CommonJS', () => {
    const attw = join(process.cwd(), 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const { code, output } = consumer.node([attw, consumer.tarball, '--profile', 'node16', '--no-color']);
    expect([code, output]).toEqual([0, expect.stringContaining('node16 (from CJS)')]);
  });

  it('compiles in a CommonJS project with the resolution of Node 16, and runs in it', () => {
    writeFileSync(
      join(consumer.folder, 'common.cts'),
      `import { AppError, createAgent, JackdawModule } from 'jackdaw';
import { cacheContract } from 'jackdaw/testing';
const kinds = [typeof createAgent, typeof JackdawModule.forRoot, typeof cacheContract, new AppError('NOT_FOUND', 'x').code];
console.log(kinds.join());
void import('jackdaw').then((esm) => console.log(Object.is(esm.JackdawModule, JackdawModule)));
`,
    );
    const options = ['--module', 'node16', '--moduleResolution', 'node16', '--target', 'es2022', '--skipLibCheck'];
    const compiled = consumer.node(['node_modules/typescript/bin/tsc', ...options, '--strict', 'common.cts']);
    expect([compiled.code, compiled.output]).toEqual([0, '']);
    expect(consumer.node(['common.cjs'])).toEqual({ code: 0, output: 'function,function,object,NOT_FOUND\ntrue\n' });
  });

  it('loads in a CommonJS suite of Jest that runs with --experimental-vm-modules', () => {
    const suite = `const { Module } = require('@nestjs/common');
const { Test } = require('@nestjs/testing');
const { AgentService, JackdawModule } = require('jackdaw');

test('an agent answers', async () => {
  const imports = [JackdawModule.forRoot({ config: { DATABASE_URL: 'sqlite::memory:' }, builtinTools: ['calculator'] })];
  const app = await (await Test.createTestingModule({ imports }).compile()).init();
  const ann = { id: 'ann', tenant: 'default', roles: ['user'] };
  expect((await app.get(AgentService).chat(ann, { query: 'What is 6 * 7?' })).result).toContain('42');
  await app.close();
});
`;
    writeFileSync(join(consumer.folder, 'agent.test.cjs'), suite);
    const limits = { testTimeout: 300_000 };
    const config = JSON.stringify({ rootDir: consumer.folder, testMatch: ['**/*.test.cjs'], transform: {}, ...limits });
    const jest = join(process.cwd(), 'node_modules/jest/bin/jest.js');
    const { code, output } = consumer.node(['--experimental-vm-modules', jest, '--config', config], {
      LLM_PROVIDER: 'offline',
    });
    expect([code, output]).toEqual([0, expect.stringContaining('1 passed')]);
  });

  it('refuses Nest 10 at the start with one line', () => {
    const core = join(consumer.folder, 'node_modules/@nestjs/core');
    const installed = realpathSync(core);
    rmSync(core);
    mkdirSync(core);
    for (const name of readdirSync(installed)) symlinkSync(join(installed, name), join(core, name));
    rmSync(join(core, 'package.json'));
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object;
    writeFileSync(join(core, 'package.json'), JSON.stringify({ ...manifest, version: '10.4.22' }));
    const source = "const { JackdawModule } = await import('jackdaw'); JackdawModule.forRoot();";
    const { code, output } = consumer.node(['--input-type=module', '-e', source]);
    rmSync(core, { recursive: true });
    symlinkSync(installed, core);
    expect([code, output]).toEqual([1, expect.stringContaining(NEST_10)]);
    expect(output).not.toMatch(/^\s+at /m);
  });

  it.each(['jackdaw/lib/index.js', 'jackdaw/lib/main.js'])('does not export %s', (path) => {
    const { code, output } = consumer.node(['--input-type=module', '-e', `await import('${path}')`]);
    expect([code, output]).toEqual([1, expect.stringContaining('ERR_PACKAGE_PATH_NOT_EXPORTED')]);
  });

  it('exports no types of internal paths', () => {
    writeFileSync(
      join(consumer.folder, 'deep.ts'),
      "import { Agent } from 'jackdaw/lib/index.js';\nexport { Agent };\n",
    );
    const { code, output } = consumer.compile('--noEmit', '--skipLibCheck');
    expect([code, output]).toEqual([expect.any(Number), expect.stringMatching(/deep\.ts.*TS2307/)]);
  });
});

describeDatabases('the package with pg and without bullmq', onPostgres, (database) => {
  let consumer: PackedConsumer;

  beforeAll(async () => {
    consumer = await PackedConsumer.create('test/fixtures/consumer', ['pg']);
  });
  afterAll(() => consumer.remove());

  it('does not start, and names bullmq and its installation', () => {
    const source = "const { createAgent } = await import('jackdaw'); await createAgent({});";
    const env = { LLM_PROVIDER: 'offline', JACKDAW_DATABASE_URL: database().url };
    const { code, output } = consumer.node(['--input-type=module', '-e', source], env);
    const message = 'A cluster needs the package bullmq, which is not installed: npm install bullmq';
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
  });
});

interface Figures {
  readonly files: number;
  readonly types: number;
  readonly instantiations: number;
  readonly seconds: number;
}

function figuresOf(output: string): Figures {
  const read = (name: string) =>
    Number.parseFloat(new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(output)?.[1] ?? 'NaN');
  return {
    files: read('Files'),
    types: read('Types'),
    instantiations: read('Instantiations'),
    seconds: read('Total time'),
  };
}
