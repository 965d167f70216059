// Compiles src/ into dist/, builds the web console, and bundles dist/ into lib/, the files of the package: a few large files load in half of the time of
// 1,150 small ones. With --if-stale it builds only if a source is newer than the last successful build.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import { STARTED_FILES } from './started-files.mjs';

const STAMP = 'dist/.built';
const COMPILER = 'node_modules/typescript/bin/tsc';
const INPUTS = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'scripts/inner-names.mjs',
  'scripts/started-files.mjs',
  'scripts/public-types.mjs',
  'scripts/console.mjs',
  'src',
  'console',
];

/** The entry for CommonJS. Node loads a module without top-level await by require(), from 22.12 on. */
const COMMONJS = `'use strict';
var version = process.versions.node.split('.').map(Number);
if (version[0] < 22 || (version[0] === 22 && version[1] < 19)) {
  throw new Error('Jackdaw needs Node 22.19 or newer; this is Node ' + process.versions.node + '.');
}
module.exports = require('./index.js');
`;

/** Milliseconds since the epoch of the last change to a file or to anything under a folder. */
function changedAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const children = readdirSync(path).filter((name) => !name.endsWith('.spec.ts'));
  return Math.max(stat.mtimeMs, ...children.map((name) => changedAt(`${path}/${name}`)));
}

function isFresh() {
  if (!existsSync(STAMP) || !existsSync('dist/main.js') || !existsSync('lib/index.js')) return false;
  const builtAt = statSync(STAMP).mtimeMs;
  return INPUTS.every((path) => changedAt(path) < builtAt);
}

/** Entries of the package, with their sources. */
const ENTRIES = { index: 'index', testing: 'testing-entry', tool: 'tool-entry' };
/** `jackdaw/testing` imports the types that the root exports. `jackdaw/tool` has its own: it needs few. */
const ROOT_TYPES = { entry: 'dist/index.d.ts', module: './index.js' };
const PROGRAMS = {
  main: 'main',
  'mcp-stdio': 'mcp-stdio',
  cli: 'cli',
  ...Object.fromEntries(STARTED_FILES.map((path) => [basename(path), path])),
};

/**
 * Loads each module with all of its parts. Otherwise more sets of files have importers of their own, and lib/ has 40 more
 * files, of which an entry loads up to twice as many.
 */
const WHOLE_MODULES = {
  name: 'whole-modules',
  setup(build) {
    build.onLoad({ filter: /[\\/]index\.js$/ }, ({ path }) => {
      const [module, ...below] = relative('dist', dirname(path)).split(sep);
      const others = below.length > 0 ? ['../index.js'] : module ? partsOf(module) : [];
      return { contents: [readFileSync(path, 'utf8'), ...others.map((other) => `import '${other}';`)].join('\n') };
    });
  },
};

function partsOf(module) {
  const folders = readdirSync(`dist/${module}`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .filter(({ name }) => existsSync(`dist/${module}/${name}/index.js`))
    .map(({ name }) => `./${name}/index.js`);
}

/** Writes lib/: code, an entry for CommonJS, and one declaration file for each entry. Packages stay imports. */
async function bundle() {
  const [{ build }, { removeInnerNames }, { writePublicTypes }, { buildConsole }] = await Promise.all([
    import('esbuild'),
    import('./inner-names.mjs'),
    import('./public-types.mjs'),
    import('./console.mjs'),
  ]);
  await buildConsole('dist/console/app');
  cpSync('dist/console/app', 'lib/console/app', { recursive: true });
  const entryPoints = Object.fromEntries(
    Object.entries({ ...ENTRIES, ...PROGRAMS }).map(([name, source]) => [name, `dist/${source}.js`]),
  );
  await build({
    entryPoints,
    outdir: 'lib',
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node22',
    packages: 'external',
    plugins: [WHOLE_MODULES],
    // Nest, logs and errors show names of classes.
    keepNames: true,
    logLevel: 'warning',
  });
  for (const name of readdirSync('lib')) if (name.endsWith('.js')) removeInnerNames(`lib/${name}`);
  for (const [name, source] of Object.entries(ENTRIES)) {
    writePublicTypes(`dist/${source}.d.ts`, `lib/${name}.d.ts`, name === 'testing' ? ROOT_TYPES : undefined);
    const types = readFileSync(`lib/${name}.d.ts`, 'utf8');
    writeFileSync(`lib/${name}.d.cts`, types.replace(`from '${ROOT_TYPES.module}'`, "from './index.cjs'"));
    writeFileSync(`lib/${name}.cjs`, COMMONJS.replace('index.js', `${name}.js`));
  }
  await bundleClient(build);
  writePublicTypes('dist/http-client/index.d.ts', 'lib/client.d.ts');
  copyFileSync('lib/client.d.ts', 'lib/client.d.cts');
}

/** Writes the entry for browsers and Node: one file without imports, for each kind of module. */
async function bundleClient(build) {
  const entryPoints = ['dist/http-client/index.js'];
  const options = { entryPoints, bundle: true, platform: 'browser', target: 'es2023', logLevel: 'warning' };
  await build({ ...options, format: 'esm', outfile: 'lib/client.js' });
  await build({ ...options, format: 'cjs', outfile: 'lib/client.cjs' });
}

if (process.argv.includes('--if-stale') && isFresh()) process.exit(0);
if (!existsSync(COMPILER)) {
  console.error(
    'The build needs the development dependencies: run `npm ci`. Start an existing build with `npm run start:prod`.',
  );
  process.exit(1);
}
// Files deleted from src/ must not stay importable.
for (const folder of ['dist', 'lib']) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
const start = Date.now();
const seconds = () => `${Math.round((Date.now() - start) / 1000)} s`;
const isTerminal = process.stderr.isTTY;
process.stderr.write(isTerminal ? 'Building…' : 'Building…\n');
const progress = isTerminal && setInterval(() => process.stderr.write(`\rBuilding… ${seconds()}`), 1000);
// The package contains no sources, so source maps would be useless.
const compiler = spawn(process.execPath, [COMPILER, '-p', 'tsconfig.build.json', '--sourceMap', 'false'], {
  stdio: 'inherit',
});
const [status] = await once(compiler, 'exit');
clearInterval(progress);
if (isTerminal) process.stderr.write('\n');
if (status === 0) {
  await bundle();
  writeFileSync(STAMP, '');
  console.error(`Built in ${seconds()}.`);
}
process.exit(status ?? 1);
