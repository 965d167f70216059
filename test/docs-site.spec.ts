import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

interface SidebarEntry {
  text: string;
  link?: string;
  items?: SidebarEntry[];
}

const load = async <T>(name: string) => (await import(resolve('site', name))) as T;
const { mapProse, rewriteLinks, routeOf, sources, twinOf } = await load<{
  mapProse: (text: string, map: (prose: string) => string) => string;
  rewriteLinks: (source: string, files: Set<string>) => string;
  routeOf: (source: string) => string;
  sources: () => string[];
  twinOf: (source: string) => string | undefined;
}>('pages.mjs');
type Sidebar = (index: string, first: SidebarEntry[]) => SidebarEntry[];
const { guideSidebar } = await load<Record<'guideSidebar', Sidebar>>('sidebar.mjs');
const { llmsFull, llmsIndex } = await load<Record<'llmsFull' | 'llmsIndex', (base: string) => string>>('llms.mjs');
const { checkLinks } = await load<Record<'checkLinks', (folder: string, base: string) => string[]>>('check.mjs');
const { anchorOf, wordsOf } = await load<{
  anchorOf: (heading: string) => string;
  wordsOf: (text: string) => string[];
}>('text.mjs');

const CHINESE = globSync('docs/zh/*.md').toSorted();
const ENGLISH = globSync(['docs/*.md', 'docs/decisions/*.md']).filter((page) => page !== 'docs/index.md');
const FENCE = /^( *)```[^\n]*\n[\s\S]*?^\1```$/gm;
const read = (path: string) => readFileSync(path, 'utf8');
const linkOf = (page: string) => `/${routeOf(page).replace(/\.md$/, '')}`;
const linksOf = (entries: readonly SidebarEntry[]): string[] =>
  entries.flatMap(({ link, items = [] }) => [...(link ? [link] : []), ...linksOf(items)]);

/** `npm run docs:site` builds the site; these tests need no build. */
describe('the sidebar of the site', () => {
  it('has every page of docs/', () => {
    const links = linksOf(guideSidebar('docs/index.md', []));
    expect(ENGLISH.length).toBeGreaterThan(100);
    expect(ENGLISH.filter((page) => !links.includes(linkOf(page)))).toEqual([]);
  });

  it('has every Chinese page in its Chinese form', () => {
    const links = linksOf(guideSidebar('docs/zh/index.md', []));
    const pages = CHINESE.filter((page) => page !== 'docs/zh/index.md');
    expect(pages.filter((page) => !links.includes(linkOf(page)))).toEqual([]);
  });

  it('has a route of its own for each page', () => {
    const routes = sources().map((source) => routeOf(source));
    expect(new Set(routes).size).toBe(routes.length);
    expect(routes).toEqual(expect.arrayContaining(['start.md', 'contents.md', 'tools.md', 'zh/tools.md']));
  });
});

describe('the Chinese pages', () => {
  it('are ten', () => {
    expect(CHINESE.length).toBeGreaterThanOrEqual(10);
  });

  it.each(CHINESE)('has the headings and the code of its English page: %s', (page) => {
    const twin = twinOf(page) ?? '';
    const levels = (text: string) => [...text.replace(FENCE, '').matchAll(/^#+ /gm)].map(([level]) => level);
    const code = (text: string) => [...text.matchAll(FENCE)].map(([block]) => block);
    expect(twin).toBe(page.replace('/zh/', '/'));
    expect(levels(read(page))).toEqual(levels(read(twin)));
    expect(code(read(page))).toEqual(code(read(twin)));
  });
});

describe('the links of a page in the site', () => {
  it('are routes, addresses and copied files', () => {
    const files = new Set<string>();
    const relative = sources().flatMap((source) => {
      const targets: string[] = [];
      mapProse(rewriteLinks(source, files), (prose) => {
        targets.push(...[...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target));
        return prose;
      });
      return targets.filter((target) => !/^(?:\/|#|[a-z]+:)/.test(target)).map((target) => `${source}: ${target}`);
    });
    expect(relative).toEqual([]);
    expect([...files].filter((file) => !existsSync(file))).toEqual([]);
    expect([...files]).toEqual(expect.arrayContaining(['docs/schemas/agent.xsd', 'docs/images/run.png', 'LICENSE']));
  });

  it('stay in the language of the page where the target has it', () => {
    expect(rewriteLinks('README.zh-CN.md', new Set())).toContain('](/zh/tools.md)');
    expect(rewriteLinks('README.zh-CN.md', new Set())).toContain('](/workflows.md)');
    expect(rewriteLinks('README.md', new Set())).toContain('](/tools.md)');
  });
});

describe('llms.txt', () => {
  const text = llmsIndex('/jackdaw/');
  const links = [...text.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)(: .+)?$/gm)];

  it('has a title, a summary and sections of links', () => {
    const [title, empty, summary, ...lines] = text.trimEnd().split('\n');
    expect([title, empty, summary]).toEqual(['# Jackdaw', '', expect.stringMatching(/^> Jackdaw runs LLM agents/)]);
    const start = lines.findIndex((line) => line.startsWith('## '));
    const faults = lines.slice(start).filter((line) => line !== '' && !/^(## \S|- \[[^\]]+\]\([^)]+\))/.test(line));
    expect(faults).toEqual([]);
    expect(text).toContain('\n## Optional\n');
  });

  it('links to the text of every page', () => {
    const targets = links.map(([, , target]) => target);
    expect(ENGLISH.filter((page) => !targets.includes(`/jackdaw/${routeOf(page)}`))).toEqual([]);
  });

  it('has a whole form with the text of every page', () => {
    const full = llmsFull('/');
    expect(ENGLISH.filter((page) => !full.includes(`<!-- /${routeOf(page)} -->\n\n# `))).toEqual([]);
    expect(full.includes('\n| term | definition |\n| --- | --- |\n')).toBe(true);
  });
});

describe('the check of the built site', () => {
  const BAD = '<a href="/x/gone.html"></a><a href="/x/b.html#no"></a><a href="/y.html"></a>';
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'jackdaw-site-'));
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    write('index.html', '<a href="/x/b.html#工具"></a><a href="/x/"></a><a href="#top"></a><h1 id="top"></h1>');
    write('b.html', '<h2 id="工具"></h2><a href="https://example.com"></a><a href="./"></a>');
    write('bad.html', `${BAD}<script src="https://cdn.example.com/a.js"></script>`);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('finds broken links, missing headings, links outside of the base and external files', () => {
    expect(checkLinks(folder, '/x/')).toEqual([
      'bad.html: /x/gone.html does not exist',
      'bad.html: /x/b.html#no has no such heading',
      'bad.html: /y.html is outside of /x/',
      'bad.html: https://cdn.example.com/a.js is external',
    ]);
  });
});

describe('the texts of the site', () => {
  it('have the anchors that GitHub builds', () => {
    expect(['1. Install', '`memory_state` 的字段', "OpenAI's two APIs"].map((heading) => anchorOf(heading))).toEqual([
      '1-install',
      'memory_state-的字段',
      'openais-two-apis',
    ]);
  });

  it('are searched by words, Chinese ones by pairs of characters', () => {
    expect(wordsOf('JACKDAW_URL, 会话记忆')).toEqual(['JACKDAW', 'URL', '会话', '话记', '记忆']);
    expect(wordsOf('工具 tool工具')).toEqual(['工具', 'tool', '工具']);
  });
});

describe('the installation of the site', () => {
  const { packages } = JSON.parse(read('site/package-lock.json')) as {
    packages: Record<string, { resolved?: string; integrity?: string }>;
  };

  it('names no registry and has an integrity hash for every package', () => {
    const open = Object.entries(packages).filter(([path, entry]) => path && (!entry.integrity || entry.resolved));
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(open.map(([path]) => path)).toEqual([]);
  });
});
