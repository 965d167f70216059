// Runs all static checks, as many at a time as there are processors, and prints the output of each check when it ends. Fails if
// one of them failed.      npm run check
import spawn from 'cross-spawn';
import { availableParallelism } from 'node:os';

/** npm scripts, the longest first. */
const CHECKS = [
  'format:check',
  'typecheck',
  'lint',
  'layers',
  'language',
  'unused',
  'commits',
  'lock -- --check',
  'licences',
];

const failed = [];
const waiting = [...CHECKS];

/** Runs an npm script. Its output stays together: it is printed at the end. */
async function run(check) {
  const child = spawn('npm', ['run', '-s', ...check.split(' ')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const pieces = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => pieces.push(piece));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  process.stdout.write(Buffer.concat(pieces));
  if (code !== 0) failed.push(check);
}

async function runWaiting() {
  for (let check = waiting.shift(); check; check = waiting.shift()) await run(check);
}

await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
