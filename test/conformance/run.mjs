// Runs the official conformance suite against the compiled application and prints the result of each scenario. All
// required scenarios of a protocol revision must pass without failures and warnings; there is no list of expected
// failures.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
const REVISIONS = ['2025-11-25', '2026-07-28'];
/** The suite starts this command for each scenario with a server address; timeout in ms, generous for slow machines. */
const CLIENT = ['--command', 'node dist/programs/client.js', '--timeout', '300000'];
const HEADINGS = { server: 'Server scenarios', client: 'Client scenarios' };

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-conformance-'));
let isGood = true;
try {
  execFileSync(process.execPath, ['test/support/bundle-programs.mjs']);
  const server = await startServer();
  for (const revision of REVISIONS) await runLeg('server', revision, ['--url', `${server.url}/mcp`]);
  await server.stop();
  for (const revision of REVISIONS) await runLeg('client', revision, CLIENT);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isGood ? 0 : 1;

async function startServer() {
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: join(folder, 'data'),
    LLM_PROVIDER: 'offline',
    LOG_LEVEL: 'error',
    SHUTDOWN_TIMEOUT_MS: '0',
  };
  const child = spawn(process.execPath, ['test/conformance/server.mjs'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const stopped = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^ready (\S+)$/.exec(line) ?? [];
    if (!url) continue;
    child.stdout.resume();
    return { url, stop: () => (child.kill('SIGTERM'), stopped) };
  }
  throw new Error('The server did not start.');
}

/** @param leg `server` or `client`: the side under test */
async function runLeg(leg, revision, args) {
  const out = join(folder, `${leg}-${revision}`);
  const text = await suite([leg, ...args, '--requirements', revision, '-o', out]);
  const required = requiredScenarios(await suite(['list', '--requirements', revision]), HEADINGS[leg]);
  const results = resultsIn(out);
  const rows = required.map((scenario) => ({ scenario, ...results.get(scenario) }));
  const bad = rows.filter(isBad);
  print(`\n${leg} ${revision}: ${rows.length - bad.length} of ${rows.length} required scenarios passed\n`);
  for (const { scenario, passed = 0, failed = 0, warned = 0 } of rows) {
    print(`  ${scenario.padEnd(48)} ${String(passed).padStart(3)} passed ${failed} failed ${warned} warned\n`);
  }
  for (const { scenario, faults = ['it was not run'] } of bad) print(`  ✗ ${scenario}: ${faults.join('; ')}\n`);
  printOthers([...results].filter(([scenario]) => !required.includes(scenario)));
  if (rows.length === 0) print(text);
  if (rows.length === 0 || bad.length > 0) isGood = false;
}

/** Prints the results of scenarios that the revision does not require; they do not affect the exit code. */
function printOthers(others) {
  const lacking = others.filter(([, result]) => isBad(result)).map(([scenario]) => scenario);
  const names = lacking.length > 0 ? `, not ${lacking.join(', ')}` : '';
  print(`  not required: ${others.length - lacking.length} of ${others.length} passed${names}\n`);
}

function isBad({ passed = 0, failed = 0, warned = 0 }) {
  return passed === 0 || failed > 0 || warned > 0;
}

/** The suite's output. Its exit code is not used, because it counts scenarios that are not required, too. */
async function suite(args) {
  const child = spawn(process.execPath, [SUITE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const pieces = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => pieces.push(piece));
  await once(child, 'close');
  return Buffer.concat(pieces).toString();
}

function requiredScenarios(list, heading) {
  const section = list.slice(list.indexOf(heading)).split('\n\n')[0];
  return section.split('\n').flatMap((line) => /^ {2}- (\S+)$/.exec(line)?.[1] ?? []);
}

/** Check results by scenario; the suite names a result folder after the scenario and the time of its run. */
function resultsIn(out) {
  const folders = readdirSync(out, { recursive: true }).filter((path) => path.endsWith('checks.json'));
  return new Map(
    folders.map((path) => {
      const [, scenario] = /^(?:server-|client-)?(.+)-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/.exec(path) ?? [];
      const checks = JSON.parse(readFileSync(join(out, path), 'utf8'));
      const count = (status) => checks.filter((check) => check.status === status).length;
      const faults = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
      const lines = faults.map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`);
      return [
        scenario,
        { passed: count('SUCCESS'), failed: count('FAILURE'), warned: count('WARNING'), faults: lines },
      ];
    }),
  );
}

function print(text) {
  process.stdout.write(text);
}
