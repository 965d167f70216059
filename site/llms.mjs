// llms.txt (https://llmstxt.org) and llms-full.txt, from docs/index.md and the staged pages.
import { groupsOf, labelOf, read, routeOf } from './pages.mjs';

/** Sections that a reader with a small context may skip. */
const OPTIONAL = ['Development', 'Design decisions'];

/** The first paragraph of the README below a heading. */
const summary = () => /^## .*\n\n(.*)$/m.exec(read('README.md'))[1];

function entries({ items }, base) {
  return items
    .filter(({ source }) => source.endsWith('.md'))
    .map((item) => {
      const note = item.description && `: ${item.description}`;
      return `- [${labelOf(item)}](${base}${routeOf(item.source)})${note}`;
    });
}

/**
 * The index: a title, a summary, and a section of links for each group of docs/index.md.
 * @param base the path of the site on its host, with a slash at both ends
 */
export function llmsIndex(base) {
  const groups = groupsOf('docs/index.md');
  const sections = groups
    .filter(({ title }) => !OPTIONAL.includes(title))
    .map((group) => [`## ${group.title}`, '', ...entries(group, base), '']);
  const optional = groups.filter(({ title }) => OPTIONAL.includes(title)).flatMap((group) => entries(group, base));
  const first = `- [Getting started](${base}${routeOf('README.md')}): set-up, the first tool, map of the documents`;
  return [
    '# Jackdaw',
    '',
    `> ${summary()}`,
    '',
    `The text of all pages is in [llms-full.txt](${base}llms-full.txt).`,
    '',
    '## First steps',
    '',
    first,
    '',
    ...sections.flat(),
    '## Optional',
    '',
    ...optional,
    '',
  ].join('\n');
}

/** Tables without the spaces that align their columns. */
const unpadded = (text) =>
  text
    .replace(/^\|.*\|$/gm, (row) => row.replace(/ {2,}/g, ' '))
    .replace(/^\|[ |:-]+\|$/gm, (row) => row.replace(/-{3,}/g, '---'));

/** The text of all pages of docs/index.md, after the README, with their routes. */
export function llmsFull(base) {
  const listed = groupsOf('docs/index.md').flatMap(({ items }) => items.map(({ source }) => source));
  const pages = ['README.md', ...new Set(listed.filter((source) => source.endsWith('.md')))];
  return pages.map((source) => `<!-- ${base}${routeOf(source)} -->\n\n${unpadded(read(source)).trim()}\n`).join('\n');
}
