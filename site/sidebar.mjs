// The sidebars: the groups of docs/index.md and of docs/zh/index.md, and the folders that TypeDoc writes.
import { globSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { BASE, fileRouteOf, groupsOf, labelOf, routeOf, STAGED } from './pages.mjs';
import { anchorOf } from './text.mjs';

/** A group with many entries is closed at first. */
const MANY = 20;
/** Folders of TypeDoc, in the order of the sidebar. */
const KINDS = {
  classes: 'Classes',
  functions: 'Functions',
  interfaces: 'Interfaces',
  'type-aliases': 'Type Aliases',
  variables: 'Variables',
};

/**
 * @param index such as `docs/index.md`
 * @param first entries above the groups
 */
export function guideSidebar(index, first) {
  const groups = groupsOf(index).map(({ title, items }) => ({
    text: title,
    collapsed: items.length > MANY,
    items: items.map((item) => ({ text: labelOf(item), ...linkTo(item.source) })),
  }));
  return [...first, ...groups];
}

const linkTo = (source) =>
  source.endsWith('.md')
    ? { link: `/${routeOf(source).replace(/\.md$/, '')}` }
    : { link: `${BASE}${fileRouteOf(source).slice(1)}`, target: '_blank' };

/**
 * A sidebar for each entry, and for each kind of its exports: one with all exports would be a large part of every page.
 * @param entries imports such as `jackdaw/tool`
 */
export function apiSidebars(entries) {
  const head = [{ text: 'All entries', link: '/api/' }];
  const sidebars = { '/api/': [...head, ...entries.map((entry) => entryGroup(entry))] };
  for (const entry of entries) {
    for (const kind of kindsOf(entry)) sidebars[`/api/${entry}/${kind}/`] = [...head, entryGroup(entry, kind)];
  }
  return sidebars;
}

/** @param open the kind whose exports are listed */
function entryGroup(entry, open) {
  const kinds = kindsOf(entry).map((kind) => ({
    text: KINDS[kind],
    ...(kind === open ? { items: membersOf(entry, kind) } : { link: `/api/${entry}/#${anchorOf(KINDS[kind])}` }),
  }));
  return { text: entry, link: `/api/${entry}/`, items: kinds };
}

const kindsOf = (entry) => Object.keys(KINDS).filter((kind) => membersOf(entry, kind).length > 0);

const membersOf = (entry, kind) =>
  globSync(`api/${entry}/${kind}/*.md`, { cwd: STAGED })
    .map((path) => path.replaceAll(sep, '/').replace(/\.md$/, ''))
    .toSorted()
    .map((path) => ({ text: basename(path), link: `/${path}` }));
