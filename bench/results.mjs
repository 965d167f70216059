// The recorded figures of all measurements: results.json, from which `npm run bench:report` writes the table of README.md.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

const FILE = new URL('results.json', import.meta.url);

/** @returns for each measurement `{ date, machine, commit, rows }` */
export const readResults = () => JSON.parse(readFileSync(FILE, 'utf8'));

/**
 * Replaces the figures of a measurement if `BENCH_RECORD` is set; trial runs change nothing.
 * @param bench the program's name without `.mjs`
 * @param rows `{ name, result, reference?, ratio?, ceiling? }`: texts with units, and `ratio` of result to reference
 */
export function record(bench, rows) {
  if (!process.env.BENCH_RECORD) return;
  if (git('status', '--porcelain', 'src', 'bench/*.mjs')) {
    throw new Error('Figures are recorded of a commit: commit the changes of src/ and bench/ first.');
  }
  const commit = git('rev-parse', '--short', 'HEAD');
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${availableParallelism()} cores of ${cpus()[0].model.trim()}, Node ${process.version}`;
  const results = { ...readResults(), [bench]: { date, machine, commit, rows } };
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
