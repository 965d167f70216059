// Bundles the programs that tests start, with all packages, into dist/programs/: a process starts with 60 % of the CPU time
// that 2,000 separate files take (docs/decisions/0094). It does so only if the build or a program is newer.
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { build } from 'esbuild';
import { STARTED_FILES } from '../../scripts/started-files.mjs';

const OUT = 'dist/programs';
/** Written at the end: a bundle that was interrupted is not used. */
const STAMP = `${OUT}/.built`;
const FOLDERS = ['test/support', 'test/conformance'];
const PROGRAMS = [
  'conformance/client',
  'support/chaos-app',
  'support/crash-app',
  'support/file-owner',
  'support/half-agent',
  'support/health-app',
  'support/hosted-app',
  'support/never-closed',
  'support/port-workers',
  'support/quick-close',
  'support/served-app',
  'support/shutdown-hooks',
  'support/state-writer',
  'support/workers-app',
];
/** Packages with native parts or WebAssembly, and optional packages that are loaded where they are used. */
const EXTERNAL = [
  'better-sqlite3*',
  'pg',
  'pg-*',
  'mysql*',
  'bullmq',
  'ioredis',
  'redis',
  'undici',
  'mongodb',
  'mssql',
  'oracledb',
  'sql.js',
  'hdb-pool',
  'react-native-sqlite-storage',
  'typeorm-aurora-data-api-driver',
  'fastify-swagger',
  'point-of-view',
  'class-transformer/storage',
  'ts-node',
  '@fastify/*',
  '@jitl/*',
  '@google-cloud/*',
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/websockets',
  '@nestjs/websockets/*',
  '@opentelemetry/*',
  '@sap/*',
];
/** For packages that are CommonJS modules. */
const COMMONJS = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);
const { filename: __filename, dirname: __dirname } = import.meta;`;

/** A chunk of esbuild exports only the default of a CommonJS package that `import()` loads: export its names too. */
const NAMED_EXPORTS = {
  name: 'named-exports',
  setup(bundle) {
    bundle.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === NAMED_EXPORTS) return undefined;
      const found = await bundle.resolve(path, { kind, resolveDir, pluginData: NAMED_EXPORTS });
      if (found.external || found.errors.length > 0) return found;
      const names = Object.keys(await import(found.path));
      if (!names.includes('module.exports')) return found;
      return {
        path: found.path,
        namespace: 'commonjs',
        pluginData: names.filter((name) => /^[a-z_$][\w$]*$/i.test(name)),
      };
    });
    bundle.onLoad({ filter: /./, namespace: 'commonjs' }, ({ path, pluginData: names }) => {
      const others = names.filter((name) => name !== 'default').join(', ');
      const contents = `const all = require(${JSON.stringify(path)});\nexport default all;\nexport const { ${others} } = all;`;
      return { contents, resolveDir: dirname(path) };
    });
  },
};

const changedAt = (path) => statSync(path).mtimeMs;

function isFresh() {
  if (!existsSync(STAMP)) return false;
  const files = FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`));
  const sources = files.filter((path) => path.endsWith('.mjs'));
  return ['dist/.built', ...sources].every((path) => changedAt(path) < changedAt(STAMP));
}

if (!isFresh()) {
  rmSync(OUT, { recursive: true, force: true });
  const programs = PROGRAMS.map((path) => [basename(path), `test/${path}.mjs`]);
  const started = STARTED_FILES.map((path) => [basename(path), `dist/${path}.js`]);
  await build({
    entryPoints: Object.fromEntries([['cli', 'dist/cli.js'], ...programs, ...started]),
    outdir: OUT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    keepNames: true,
    banner: { js: COMMONJS },
    external: EXTERNAL,
    plugins: [NAMED_EXPORTS],
    logLevel: 'error',
  });
  writeFileSync(STAMP, '');
}
