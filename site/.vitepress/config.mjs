import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { BASE, OUTPUT, routeOf, sources, STAGED, twinOf } from '../pages.mjs';
import { wordsOf } from '../text.mjs';
import { apiSidebars, guideSidebar } from '../sidebar.mjs';
import { CHINESE, CHINESE_SEARCH } from './chinese.mjs';
import { MARKDOWN, renderSearched } from './markdown.mjs';

const ENTRIES = ['jackdaw', 'jackdaw/tool', 'jackdaw/client', 'jackdaw/testing'];
/** Routes of the other language by route, for the language menu. */
const TWINS = new Map(
  sources()
    .filter((source) => twinOf(source))
    .map((source) => [routeOf(source), `/${routeOf(twinOf(source)).replace(/\.md$/, '.html')}`]),
);

/** Endings of linked files beside those that VitePress knows; all others are pages to it. */
process.env.VITE_EXTRA_EXTENSIONS = 'xsd,example';

export default defineConfig({
  title: 'Jackdaw',
  description: 'LLM agents for NestJS backends',
  base: BASE,
  srcDir: STAGED,
  outDir: OUTPUT,
  cacheDir: join(STAGED, '../cache'),
  head: [['link', { rel: 'icon', href: `${BASE}logo.svg`, type: 'image/svg+xml' }]],
  // The search index has the pages in the order in which they are ready: one after another, it is the same in each build.
  buildConcurrency: 1,
  ignoreDeadLinks: 'localhostLinks',
  // One file with the sidebars instead of a copy in each page.
  metaChunk: true,
  markdown: MARKDOWN,
  transformPageData({ relativePath, frontmatter }) {
    return { frontmatter: { ...frontmatter, twin: TWINS.get(relativePath) } };
  },
  vite: {
    resolve: {
      alias: [{ find: /^.*\/composables\/langs(?:\.js)?$/, replacement: join(import.meta.dirname, 'theme/langs.mjs') }],
    },
    build: { chunkSizeWarningLimit: 10_000 },
  },
  themeConfig: {
    logo: '/logo.svg',
    outline: [2, 3],
    nav: [
      { text: 'Getting started', link: '/start' },
      { text: 'All pages', link: '/contents' },
      { text: 'REST API', link: '/rest-api' },
      { text: 'API reference', link: '/api/' },
    ],
    sidebar: {
      '/': guideSidebar('docs/index.md', [
        { text: 'Getting started', link: '/start' },
        { text: 'All pages', link: '/contents' },
      ]),
      ...apiSidebars(ENTRIES),
    },
    search: {
      provider: 'local',
      options: {
        _render: renderSearched,
        miniSearch: { options: { tokenize: wordsOf } },
        locales: { zh: CHINESE_SEARCH },
      },
    },
  },
  locales: {
    root: { label: 'English', lang: 'en' },
    zh: { label: '简体中文', lang: 'zh-CN', ...CHINESE },
  },
});
