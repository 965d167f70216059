// The pages of the site: a Markdown file of the repository each, with its route. The navigation is read from docs/index.md.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, resolve, sep } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..');
export const STAGED = join(import.meta.dirname, 'dist/pages');
export const OUTPUT = join(import.meta.dirname, 'dist/html');
/** The path of the site on its host, as in `/jackdaw/`. */
export const BASE = process.env.DOCS_BASE || '/';

const SOURCES = ['*.md', 'docs/**/*.md', 'bench/README.md', 'examples/*/README.md'];
/** Routes that do not follow from the path of the file. The home page has `index.md`. */
const ROUTES = {
  'README.md': 'start.md',
  'README.zh-CN.md': 'zh/start.md',
  'docs/index.md': 'contents.md',
  'docs/zh/index.md': 'zh/contents.md',
  'SECURITY.md': 'security-reports.md',
  'CODE_OF_CONDUCT.md': 'code-of-conduct.md',
  'bench/README.md': 'measurements.md',
};
const CODE = /^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2 *$|(`+)(?!`)[^\n]*?[^`]\3(?!`)/gm;
const LINK = /(?<image>!?)\[(?<text>(?:[^\]`]|`[^`]*`)*)\]\((?<target>[^)\s]+)\)/;
/** The text of a link that is the name of a file: the site has the title of the page instead. */
const FILE_NAME = /^(?:\w[\w-]*\/)*[\w-]+\.md(?=$|（)/;
const CODE_OR_LINK = new RegExp(`${CODE.source}|${LINK.source}`, 'gm');

export const read = (source) => readFileSync(join(ROOT, source), 'utf8');

/** All Markdown files of the site, as paths from the repository's folder. */
export const sources = () =>
  globSync(SOURCES, { cwd: ROOT })
    .map((path) => path.replaceAll(sep, '/'))
    .toSorted();

/** @returns the path of a page in the site, with `.md` */
export function routeOf(source) {
  if (ROUTES[source]) return ROUTES[source];
  if (source.startsWith('examples/')) return source.replace('/README.md', '.md');
  return source.startsWith('docs/') ? source.slice('docs/'.length) : source.toLowerCase();
}

/** @returns the same page in the other language, or undefined */
export function twinOf(source) {
  if (source === 'README.md') return 'README.zh-CN.md';
  if (source === 'README.zh-CN.md') return 'README.md';
  const twin = source.startsWith('docs/zh/') ? source.replace('/zh/', '/') : source.replace(/^docs\//, 'docs/zh/');
  return twin !== source && existsSync(join(ROOT, twin)) ? twin : undefined;
}

export const isChinese = (source) => source === 'README.zh-CN.md' || source.startsWith('docs/zh/');

/** The heading of the first level, without code marks. */
export const titleOf = (text) => /^# (.*)$/m.exec(text)?.[1].replaceAll('`', '') ?? '';

/** Applies a function to the text outside of code. */
export function mapProse(text, map) {
  let at = 0;
  let result = '';
  for (const match of text.matchAll(CODE)) {
    result += map(text.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
  }
  return result + map(text.slice(at));
}

/**
 * The groups of links in an index page: headings whose tables and lists have links.
 * @returns `[{title, items: [{text, description, source}]}]`; `source` is a path from the repository's folder
 */
export function groupsOf(index) {
  const groups = [];
  for (const line of read(index).split('\n')) {
    const [, title] = /^##+ (.*)$/.exec(line) ?? [];
    if (title) groups.push({ title, items: [] });
    if (/^(?:\||\d+\.|-) ?/.test(line)) groups.at(-1)?.items.push(...linksOf(line, dirname(index)));
  }
  return groups.filter(({ items }) => items.length > 0);
}

function linksOf(line, folder) {
  const [, subject = ''] = line.startsWith('|') ? line.split(/(?<!\\)\|/) : [];
  return [...line.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)].map(([, text, target]) => ({
    text,
    description: subject.trim(),
    source: normalize(join(folder, target)).replaceAll(sep, '/'),
  }));
}

/** The label of an entry in the sidebar: the title of its page, or the text of its link. */
export function labelOf({ text, source }) {
  return source.endsWith('.md') && !source.includes('/decisions/') ? titleOf(read(source)) : text;
}

/** The path in the site of a file that is not a page, such as a schema. */
export const fileRouteOf = (path) => `/files/${path}${/\.\w+$/.test(path) ? '' : '.txt'}`;

/**
 * Rewrites the links of a page for the site. Links to pages become routes; linked files are copied; a link to a folder becomes text.
 * @param files receives the linked files that are not pages
 */
export function rewriteLinks(source, files) {
  const pages = new Set(sources());
  return read(source).replace(CODE_OR_LINK, (all, ...found) => {
    const { image, text, target } = found.at(-1);
    if (target === undefined || /^(?:[a-z]+:|#)/.test(target)) return all;
    const [path, anchor] = target.split('#');
    const file = normalize(join(dirname(source), path)).replaceAll(sep, '/');
    const hash = anchor === undefined ? '' : `#${anchor}`;
    if (pages.has(file)) {
      const page = inLanguageOf(source, file, hash);
      return `[${text.replace(FILE_NAME, titleOf(read(page)))}](/${routeOf(page)}${hash})`;
    }
    if (!existsSync(join(ROOT, file))) throw new Error(`${source} has a link to ${target}, which does not exist.`);
    if (!statSync(join(ROOT, file)).isFile()) return text;
    files.add(file);
    return `${image}[${text}](${fileRouteOf(file)}${hash})`;
  });
}

/** Chinese pages link to Chinese pages where these exist. The anchors of the two languages differ. */
function inLanguageOf(source, file, hash) {
  const twin = isChinese(source) && !isChinese(file) && !hash && !isSwitch(source, file) && twinOf(file);
  return twin || file;
}

const isSwitch = (source, file) => twinOf(source) === file;
