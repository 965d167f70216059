// Compiles src/ if it has changed, and runs a script in this process, so that a signal to it reaches the script. With --built it
// compiles nothing.
//   node scripts/run.mjs [--built] dist/main.js [argument…]
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const parent = process.ppid;
const [, , ...given] = process.argv;
const isBuilt = given[0] === '--built';
const [script, ...args] = isBuilt ? given.slice(1) : given;
// As if Node had started the script.
process.argv = [process.argv[0], resolve(script), ...args];
if (!isBuilt) {
  const { status, signal } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? (signal === 'SIGINT' ? 130 : 1));
}

// npm passes a signal to its shell only, and dash ends without passing it on.
const WATCH_MS = 250;
let watch;
if (process.env.npm_lifecycle_event) {
  watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, WATCH_MS);
  watch.unref();
}
await import(pathToFileURL(process.argv[1]).href);
// Ctrl+C also ends the shell: the watch must not send a second signal, which would end the server without a drain.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  if (process.listenerCount(signal) > 0) process.once(signal, () => clearInterval(watch));
}
