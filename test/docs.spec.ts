import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { tableCells } from './support/markdown-table.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { documentedRoutes } from './support/route-walk.js';

const read = (path: string) => readFileSync(path, 'utf8');
const PAGES = globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'examples/*/*.md']).toSorted();
const FENCE = /^```(\w*)\n(.*?)^```$/gms;
const withoutCode = (text: string) => text.replace(FENCE, '').replace(/`[^`\n]*`/g, '');

/** The anchor of a heading, as GitHub builds it. */
function anchorOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
}

const headingsOf = (text: string) => [...text.replace(FENCE, '').matchAll(/^(#+) (.*)$/gm)];

/** Links of a page to files and headings that do not exist. */
function brokenLinks(page: string): string[] {
  const targets = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = '', anchor] = target.split('#');
    const file = path ? normalize(join(dirname(page), path)) : page;
    if (!existsSync(file)) return true;
    return anchor !== undefined && !headingsOf(read(file)).some(([, , heading = '']) => anchorOf(heading) === anchor);
  });
}

describe('the pages', () => {
  it('are all seen by this spec', () => {
    expect(PAGES.length).toBeGreaterThan(60);
  });

  it.each(PAGES.filter((page) => page !== 'CHANGELOG.md').map((page) => [page]))('have no broken link: %s', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it('are all linked from docs/index.md, those in Chinese from docs/zh/index.md', () => {
    const isLinked = (page: string) => {
      const folder = page.startsWith('docs/zh/') && page !== 'docs/zh/index.md' ? 'docs/zh/' : 'docs/';
      return read(`${folder}index.md`).includes(`(${page.slice(folder.length)})`);
    };
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/index.md');
    expect(pages.filter((page) => !isLinked(page))).toEqual([]);
  });

  it('have only valid JSON snippets', () => {
    const invalid = PAGES.flatMap((page) =>
      [...read(page).matchAll(FENCE)].filter(([, kind, text = '']) => kind === 'json' && !isJson(text)).map(() => page),
    );
    expect(invalid).toEqual([]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('the README', () => {
  const readme = read('README.md');
  const chinese = read('README.zh-CN.md');

  it('has the same headings in Chinese', () => {
    const levels = (text: string) => headingsOf(text).map(([, level]) => level);
    expect(levels(chinese)).toEqual(levels(readme));
  });

  it('has the same code in Chinese', () => {
    expect([...chinese.matchAll(FENCE)].map(([text]) => text)).toEqual(
      [...readme.matchAll(FENCE)].map(([text]) => text),
    );
  });

  it('has the same links and names in Chinese', () => {
    const named = (text: string) =>
      [...text.replace(FENCE, '').matchAll(/\]\((docs\/[^)]*|bench\/[^)]*)\)|`[A-Z_]{4,}`/g)].map(([link]) => link);
    expect(named(chinese.replaceAll('](docs/zh/', '](docs/')).toSorted()).toEqual(named(readme).toSorted());
  });

  it('links in Chinese to the Chinese pages', () => {
    const pages = [...chinese.matchAll(/\]\(docs\/([\w-]+\.md)\)/g)].map(([, page = '']) => page);
    expect(pages.filter((page) => existsSync(`docs/zh/${page}`))).toEqual([]);
  });

  it('names existing variables', () => {
    const [, ...rows] = tableCells(section(readme, 'Configuration'));
    const names = rows.flatMap(([cell = '']) => cell.split(', '));
    const all = read('docs/configuration.md');
    expect([names.length, names.filter((name) => !all.includes(`| ${name} `))]).toEqual([11, []]);
  });

  it.each([
    ['README.md', readme],
    ['README.zh-CN.md', chinese],
  ])('maps every module of src/: %s', (_file, text) => {
    const map = text.slice(text.indexOf('`src/*.ts`'));
    const rows = tableCells(map.slice(0, map.indexOf('<!-- prettier-ignore-end')));
    const named = rows.flatMap(([cell = '']) => cell.split(', ').map((name) => name.replaceAll('`', '')));
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(named.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
  });
});

/** The text below a heading of the second level. */
function section(text: string, heading: string): string {
  return text.slice(text.indexOf(`\n## ${heading}\n`)).split('\n## ')[1] ?? '';
}

describe('docs/rest-api.md', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw();
  });
  afterAll(() => jackdaw.stop());

  it('lists every route once', async () => {
    const rows = tableCells(read('docs/rest-api.md')).filter(([cell]) => /^`[A-Z]+ \//.test(cell ?? ''));
    expect(rows.map(([cell = '']) => cell.replaceAll('`', '')).toSorted()).toEqual(await documentedRoutes(jackdaw));
  });
});

describe('docs/security.md', () => {
  const entries = tableCells(read('docs/security.md')).filter(([cell]) => /^(?:LLM|ASI)\d/.test(cell ?? ''));

  it('has a row with a control and a residual risk for each entry of the two lists of OWASP', () => {
    const numbers = Array.from({ length: 10 }, (_, n) => String(n + 1).padStart(2, '0'));
    expect(entries.map(([entry = '']) => entry.split(' ', 1)[0])).toEqual(
      ['LLM', 'ASI'].flatMap((list) => numbers.map((number) => `${list}${number}`)),
    );
    expect(entries.filter((cells) => cells.length !== 4 || cells.includes(''))).toEqual([]);
  });

  it.each(entries)('names existing specs as tests of %s', (_entry, _control, tests = '') => {
    const specs = [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    expect(specs.length).toBeGreaterThan(0);
    expect(specs.filter((path) => !path.endsWith('.spec.ts') || !existsSync(path))).toEqual([]);
  });
});
