// Writes the pages for VitePress into dist/pages, and the files to which they link into dist/pages/public.
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileRouteOf, mapProse, read, rewriteLinks, ROOT, routeOf, sources, STAGED } from './pages.mjs';

/** Titles of pages whose heading is the name of the product. */
const TITLES = { 'README.md': 'Getting started', 'README.zh-CN.md': '快速开始' };

function write(path, text) {
  const file = join(STAGED, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A name in angle brackets is text, not a tag. */
const withoutTags = (text) => mapProse(text, (prose) => prose.replace(/<(?=\w[^:@>\n]*>)/g, '&lt;'));

/** @returns the number of pages */
export function stagePages() {
  rmSync(STAGED, { recursive: true, force: true });
  cpSync(join(import.meta.dirname, 'home'), STAGED, { recursive: true });
  const files = new Set();
  for (const source of sources()) {
    const title = TITLES[source] ? `---\ntitle: ${TITLES[source]}\n---\n\n` : '';
    write(routeOf(source), title + withoutTags(rewriteLinks(source, files)));
  }
  for (const file of files) {
    const copy = join(STAGED, 'public', fileRouteOf(file));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(join(ROOT, file), copy);
  }
  write('public/logo.svg', iconOfServer());
  return sources().length;
}

/** The icon that the server has, too. */
function iconOfServer() {
  const [icon] = /<svg xmlns.*<\/svg>/.exec(read('src/server/start-page.ts')) ?? [];
  if (!icon) throw new Error('src/server/start-page.ts has no icon: name its new file in site/stage.mjs.');
  return icon;
}
