// Checks the built site: each link inside it has a target, and no page loads anything from another host.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

const ATTRIBUTE = /<(\w+)\b[^>]*?\s(?:href|src)="([^"]*)"/g;
const ID = /\sid="([^"]*)"/g;
const decode = (text) => decodeURIComponent(text.replaceAll('&amp;', '&'));

/** @returns the faults, one a line */
export function checkLinks(folder, base) {
  const pages = globSync('**/*.html', { cwd: folder })
    .map((path) => path.replaceAll(sep, '/'))
    .toSorted();
  const ids = new Map();
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]));
  for (const [page, text] of texts) ids.set(page, new Set([...text.matchAll(ID)].map(([, id]) => decode(id))));
  const faults = new Set();
  for (const [page, text] of texts) {
    for (const [, tag, target] of text.matchAll(ATTRIBUTE)) {
      const fault = faultOf({ page, tag, target, folder, base, ids });
      if (fault) faults.add(`${page}: ${target} ${fault}`);
    }
  }
  return [...faults];
}

function faultOf(link) {
  const { tag, target } = link;
  if (!/^(?:[a-z]+:|\/\/)/.test(target)) return faultInside(link);
  return tag === 'a' || target.startsWith('data:') ? undefined : 'is external';
}

function faultInside({ page, target, folder, base, ids }) {
  const [path, anchor] = target.split('#');
  if (path.startsWith('/') && !path.startsWith(base)) return `is outside of ${base}`;
  const file = path.startsWith('/') ? path.slice(base.length) : normalize(join(dirname(page), path));
  const found = fileOf(folder, path === '' ? page : file);
  if (!found) return 'does not exist';
  if (anchor && ids.has(found) && !ids.get(found).has(decode(anchor))) return 'has no such heading';
  return undefined;
}

function fileOf(folder, path) {
  const file = decode(path);
  const names = file === '' || file.endsWith('/') ? [`${file}index.html`] : [file, `${file}.html`];
  return names.find((name) => existsSync(join(folder, name)));
}
