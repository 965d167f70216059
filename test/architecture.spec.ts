import { beforeAll, describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { cruiseProject, plantViolations, type Cruised } from './support/architecture.js';
import { fileNameFault } from './support/file-name-rule.js';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.d.ts'),
);

describe('the layers of src/', () => {
  let found: Cruised;
  beforeAll(async () => {
    found = await cruiseProject('.');
  });

  it('are respected by each import', () => {
    expect(found.violations).toEqual([]);
  });

  it('are checked for all modules: a check of no file passes, too', () => {
    expect(found.modules.length).toBeGreaterThan(50);
    expect(found.modules).toEqual(expect.arrayContaining(sources.map((path) => `src/${path}`)));
  });
});

describe('every rule', () => {
  let broken: Cruised;
  beforeAll(async () => {
    const project = plantViolations();
    try {
      broken = await cruiseProject(project.path);
    } finally {
      project.remove();
    }
  });

  it('reports a file that violates it', () => {
    const reported = new Set(broken.violations.map(({ rule }) => rule));
    expect(broken.rules.filter((rule) => !reported.has(rule))).toEqual([]);
  });

  it.each([
    ['layer-llm', 'src/llm/up.ts', 'src/tool/index.ts'],
    ['layer-health', 'src/health/up.ts', 'src/api/index.ts'],
    ['layer-agent', 'src/agent/up.ts', 'src/composition.ts'],
    ['layer-tool', 'src/tool/up.ts', 'src/tool-state/index.ts'],
    ['layer-mcp', 'src/mcp/up.ts', 'src/rest-tool/index.ts'],
    ['llm-and-tool-never-meet', 'src/tool/up.ts', 'src/llm/index.ts'],
    ['public-index', 'src/agent/faults.ts', 'src/kernel/hidden.ts'],
    ['public-index', 'src/agent/faults.ts', 'src/kernel/part/hidden.ts'],
    ['public-index', 'src/agent/faults.ts', 'src/kernel/part/deep/index.ts'],
    ['no-own-index', 'src/agent/faults.ts', 'src/agent/index.ts'],
    ['no-own-index', 'src/kernel/index.ts', 'src/kernel/part/index.ts'],
    ['examples-use-the-package', 'examples/shop/src/main.ts', 'src/kernel/hidden.ts'],
  ])('%s names the import %s → %s', (rule, from, to) => {
    expect(broken.violations).toContainEqual({ rule, from, to });
  });

  it.each(['src/api/down.ts', 'src/composition-part.ts'])('permits imports through an index: %s', (file) => {
    expect(broken.violations.filter(({ from }) => from === file)).toEqual([]);
    expect(broken.modules).toContain(file);
  });
});

describe('a file of src/', () => {
  it('is named in kebab-case, with at most one known suffix', () => {
    expect(sources.map(fileNameFault).filter(Boolean)).toEqual([]);
    expect(
      ['run/utils.ts', 'run/run-helpers.service.old.ts', 'run/RunJournal.ts', 'a/b/c/index.ts'].filter(
        (path) => !fileNameFault(path),
      ),
    ).toEqual([]);
  });

  it('reads process.env in src/config only', () => {
    const readers = sources.filter(
      (path) =>
        !path.endsWith('.spec.ts') &&
        /\bprocess\s*(\.|\?\.|\[['"`])\s*env\b|\benv\b[^;]*from 'node:process'/.test(
          readFileSync(`src/${path}`, 'utf8'),
        ),
    );
    expect(readers.toSorted()).toEqual([
      'config/build.policy.ts',
      'config/config.loader.ts',
      'config/worker.loader.ts',
    ]);
  });

  it('reads /proc and syncs folders in src/kernel/platform only', () => {
    const users = sources.filter((path) => {
      const text = path.endsWith('.spec.ts') ? '' : readFileSync(`src/${path}`, 'utf8');
      return /['"`]\/proc\b/.test(text) || /(dir|directory|folder)\w*(\.|\?\.)sync\(/i.test(text);
    });
    expect(users.filter((path) => !path.startsWith('kernel/platform/'))).toEqual([]);
    expect(users).toContain('kernel/platform/process-tree.ts');
  });

  it('does not make terminus load @nestjs/swagger at boot with a bare @HealthCheck()', () => {
    const bare = sources.filter((path) => /@HealthCheck\(\s*\)/.test(readFileSync(`src/${path}`, 'utf8')));
    expect(bare).toEqual([]);
  });
});
