import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** Number of files in src/ under 25 lines with a single importer, which belong in their importer. May only fall. */
const SMALL_FILES = 44;
const SMALL_LINES = 25;
/** Least median length of a source file, in lines. */
const MEDIAN_LINES = 75;
/** Most names of an index of a module or of a part of one, with types. A module with more gets a further part: decision 91. */
const MOST_NAMES = 40;
/**
 * Values of the package root; a commit that raises the number gives the reason. With the modules that mount routes in a
 * host, the decorators of routes in a server of one's own, and the services for histories, forks and tool switches; then the
 * token of a service for providers that import `jackdaw/tool`; cassettes; feedback, schedules and webhooks.
 */
const ROOT_NAMES = 102;
const README = { lines: 250, bytes: 12_288 };

const read = (path: string) => readFileSync(path, 'utf8');
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((path) => join('src', path))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'));

function importersOf(): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const path of sources) {
    for (const { fileName } of ts.preProcessFile(read(path), true, true).importedFiles) {
      if (!fileName.startsWith('.')) continue;
      const target = normalize(join(dirname(path), fileName.replace(/\.js$/, '.ts')));
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  }
  return importers;
}

/** Exported names of an index: all of them, or only its values. */
function namesOf(path: string, which: 'all' | 'values'): number {
  const { statements } = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest);
  return statements.filter(ts.isExportDeclaration).flatMap(({ exportClause, isTypeOnly }) => {
    if (!exportClause || !ts.isNamedExports(exportClause)) throw new Error(`${path} has an export without names`);
    return exportClause.elements.filter((name) => which === 'all' || !(isTypeOnly || name.isTypeOnly));
  }).length;
}

describe('ratchets', () => {
  it('sees the sources and their imports: a check of nothing would pass too', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(importersOf().get('src/jackdaw.module.ts')).toContain('src/index.ts');
  });

  it('has no more small files with a single importer than before', () => {
    const importers = importersOf();
    const isSmall = (path: string) => read(path).trimEnd().split('\n').length < SMALL_LINES;
    const isShape = (path: string) => /(\.(types|entity|migration)|\/index)\.ts$/.test(path);
    const small = sources.filter((path) => importers.get(path)?.size === 1 && !isShape(path) && isSmall(path));
    expect(small.length).toBeLessThanOrEqual(SMALL_FILES);
  });

  it('has files that are whole ideas: half of them have more lines than the least median', () => {
    const lengths = sources
      .filter((path) => !path.includes('/generated/'))
      .map((path) => read(path).split('\n').length);
    const median = lengths.toSorted((a, b) => a - b)[lengths.length >> 1]!;
    expect(median).toBeGreaterThanOrEqual(MEDIAN_LINES);
  });

  it.each(sources.filter((path) => /^src\/[^/]+\/([^/]+\/)?index\.ts$/.test(path)).map((path) => [path]))(
    'exports at most 40 names from %s',
    (path) => {
      expect(namesOf(path, 'all')).toBeLessThanOrEqual(MOST_NAMES);
    },
  );

  it('exports no more values from the package root than its ceiling', () => {
    expect(namesOf('src/index.ts', 'values')).toBeLessThanOrEqual(ROOT_NAMES);
  });

  it('keeps the README within its size', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README.lines);
    expect(statSync('README.md').size).toBeLessThanOrEqual(README.bytes);
  });
});
