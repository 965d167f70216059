import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PackedConsumer } from './support/packed-consumer.js';

/** Type instantiations of Nest, Node and the common imports of a consumer, doubled to leave room for our own. */
const INSTANTIATIONS = { withoutLibraries: 20_000, withLibraries: 400_000 };
/** Imports and exports that the compiler writes on one line each. */
const IMPORTED = /^(?:import|export) (?:.* from )?'(?<at>[^.'\n][^'\n]*)';$|\bimport\('(?<later>[^.'\n][^'\n]*)'\)/gm;
const TOP_LEVEL = /^(?:@[^/]+\/)?[^/]+/;

/** The package as a consumer installs it: packed, in a project with its declared dependencies only. */
describe('the package', () => {
  let consumer: PackedConsumer;

  beforeAll(async () => {
    consumer = await PackedConsumer.create('test/fixtures/consumer');
  });
  afterAll(() => consumer.remove());

  it('contains the compiled code, one declaration file per entry and the documents', () => {
    const kind = (path: string) => path.replace(/^dist\/.*\.js$/, 'dist/*.js').replace(/^docs\/.*/, 'docs/*');
    expect([...new Set(consumer.files.map(kind))].toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'README.zh-CN.md',
      'dist/*.js',
      'dist/jackdaw.d.ts',
      'dist/testing.d.ts',
      'docs/*',
      'package.json',
    ]);
    expect(consumer.files.filter((path) => path.includes('.spec.'))).toEqual([]);
    const code = consumer.files.filter((path) => path.endsWith('.js'));
    expect(code.length).toBeGreaterThan(400);
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
    const declared = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
    expect([...packages].filter((name) => !declared.includes(name!))).toEqual([]);
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$/.test(name))).toEqual([]);
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

  it.each([
    ['@nestjs/platform-fastify', 'serve()', "const { serve } = await import('jackdaw'); await serve();", {}],
    ['pg', 'PostgreSQL', '', { JACKDAW_DATABASE_URL: 'postgres://127.0.0.1:1/none' }],
    ['mysql2', 'MariaDB', '', { JACKDAW_DATABASE_URL: 'mysql://127.0.0.1:1/none' }],
    ['ioredis', 'Redis', '', { JACKDAW_SESSION_STORE: 'redis://127.0.0.1:1' }],
  ])('without %s names it and its installation, where %s needs it', (name, purpose, script, env) => {
    const source = script || "const { createAgent } = await import('jackdaw'); await createAgent({});";
    const { code, output } = consumer.node(['--input-type=module', '-e', source], { LLM_PROVIDER: 'offline', ...env });
    expect(code).toBe(1);
    expect(output).toContain(`${purpose} needs the package ${name}, which is not installed: npm install ${name}`);
  });

  it.each(['jackdaw/dist/index.js', 'jackdaw/dist/agent.client.js', 'jackdaw/package.json'])(
    'does not export %s',
    (path) => {
      const { code, output } = consumer.node(['--input-type=module', '-e', `await import('${path}')`]);
      expect([code, output]).toEqual([1, expect.stringContaining('ERR_PACKAGE_PATH_NOT_EXPORTED')]);
    },
  );

  it('exports no types of internal paths', () => {
    writeFileSync(
      join(consumer.folder, 'deep.ts'),
      "import { Agent } from 'jackdaw/dist/index.js';\nexport { Agent };\n",
    );
    const { code, output } = consumer.compile('--noEmit', '--skipLibCheck');
    expect([code, output]).toEqual([expect.any(Number), expect.stringMatching(/deep\.ts.*TS2307/)]);
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
