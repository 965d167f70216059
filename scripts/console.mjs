// Builds the web console from console/ into a folder: one page, and files whose names contain a hash of their content, with a
// compressed form of each.
import { build } from 'esbuild';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const ENTRIES = { main: 'console/src/main.tsx', style: 'console/src/style.css' };

/** @param folder such as `dist/console/app` */
export async function buildConsole(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: ENTRIES,
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'console/tsconfig.json',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  writePage(folder, metafile);
  writeFileSync(join(folder, 'licences.txt'), licences(metafile));
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

/** The page names the built files. */
function writePage(folder, { outputs }) {
  let page = readFileSync('console/index.html', 'utf8');
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    const entry = Object.entries(ENTRIES).find(([, source]) => source === entryPoint);
    if (!entry) continue;
    const [name] = entry;
    page = page.replace(`./${name}.${path.endsWith('.css') ? 'css' : 'js'}`, `./${basename(path)}`);
  }
  writeFileSync(join(folder, 'index.html'), page);
}

/** The licences of the bundled packages, which require a copy of their text. */
function licences({ inputs }) {
  const packages = Object.keys(inputs)
    .map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
    .filter((name) => name !== undefined);
  return [...new Set(packages)]
    .toSorted()
    .map((name) => {
      const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
      const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt'].find((each) => existsSync(`node_modules/${name}/${each}`));
      if (!file) throw new Error(`The package ${name} has no licence file.`);
      return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/${file}`, 'utf8').trim()}\n`;
    })
    .join('\n---\n\n');
}
