// Compiles src/ into dist/, with one file of declarations for who uses the package. With --if-stale only when a source is newer
// than the last successful build.
import { spawnSync } from 'node:child_process';
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
    'Building needs the development dependencies: run `npm ci`. An image that is already built starts with `npm run start:prod`.',
  );
  process.exit(1);
}
console.error('Building…');
// What was deleted from src/ must not stay importable.
rmSync('dist', { recursive: true, force: true });
// A package has no maps to sources that it does not have.
const { status } = spawnSync(process.execPath, [COMPILER, '-p', 'tsconfig.build.json', '--sourceMap', 'false'], {
  stdio: 'inherit',
});
if (status === 0) {
  const { writePublicTypes } = await import('./public-types.mjs');
  writePublicTypes('dist/index.d.ts', 'dist/jackdaw.d.ts');
  writeFileSync(STAMP, '');
}
process.exit(status ?? 1);
