// Compiles src/ into dist/, with one declaration file for users of the package. With --if-stale it compiles only if a source
// is newer than the last successful build.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';

const STAMP = 'dist/.built';
const COMPILER = 'node_modules/typescript/bin/tsc';
const INPUTS = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/public-types.mjs', 'src'];

/** Milliseconds since the epoch of the last change to a file or to anything under a folder. */
function changedAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const children = readdirSync(path).filter((name) => !name.endsWith('.spec.ts'));
  return Math.max(stat.mtimeMs, ...children.map((name) => changedAt(`${path}/${name}`)));
}

function isFresh() {
  if (!existsSync(STAMP) || !existsSync('dist/main.js')) return false;
  const builtAt = statSync(STAMP).mtimeMs;
  return INPUTS.every((path) => changedAt(path) < builtAt);
}

if (process.argv.includes('--if-stale') && isFresh()) process.exit(0);
if (!existsSync(COMPILER)) {
  console.error(
    'The build needs the development dependencies: run `npm ci`. Start an existing build with `npm run start:prod`.',
  );
  process.exit(1);
}
// Files deleted from src/ must not stay importable.
rmSync('dist', { recursive: true, force: true });
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
  const { writePublicTypes } = await import('./public-types.mjs');
  writePublicTypes('dist/index.d.ts', 'dist/jackdaw.d.ts');
  writePublicTypes('dist/testing/index.d.ts', 'dist/testing.d.ts');
  writeFileSync(STAMP, '');
  console.error(`Built in ${seconds()}.`);
}
process.exit(status ?? 1);
