import { existsSync, readFileSync } from 'node:fs';
import type { ReplayCheck } from '../run/replay/index.js';
import type { LocalServer } from '../server/index.js';
import { EXIT, usageError } from './cli.error.js';
import type { Call, Command } from './command.types.js';
import { exportOf } from './run-commands.js';
import { given, parseCount } from './value.parser.js';

/** Lengths of the units of `--since`, in ms. */
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Default for `--limit`. */
const LIMIT = 50;
const ENDED = 'completed,failed,cancelled';
const STYLES = { same: 'green', diverged: 'red', unsupported: 'yellow' } as const;

/** Checks recorded runs against the code, prompts, tools and policies of the folder. */
export const REPLAY_COMMAND: Command = {
  name: 'replay',
  summary: 'Replay recorded runs with the code, prompts and tools of this folder; exit code 1 if one diverges',
  arguments: [
    { name: 'run', help: 'Ids of runs, or files of `runs export`; with --since none', isRest: true, isOptional: true },
  ],
  options: {
    since: { value: 'age', help: 'Also the runs of this age, such as 7d, 12h or 30m' },
    agent: { value: 'name', help: 'With --since: runs of an agent' },
    limit: { value: 'count', help: `With --since: maximum number, newest first; ${LIMIT} by default` },
    'allow-unverified': {
      help: 'Accept requests that equal the exported ones, if those are not the ones that were sent',
    },
  },
  json: '{ same, diverged, unsupported, runs: [{ run_id, agent, status, divergence?, reason? }] }',
  run: async (call) => {
    const files = call.args.filter(isFile).map((file) => ({ name: file, text: readText(file) }));
    const ids = call.args.filter((word) => !isFile(word));
    const since = call.text('since');
    if (call.args.length === 0 && since === undefined) throw usageError('Name a run or a file, or give --since.');
    const age = since === undefined ? undefined : parseAge(since);
    const isServerNeeded = ids.length > 0 || age !== undefined;
    const listed = age === undefined ? [] : await listRuns(call, age);
    const checker = await openChecker(call, isServerNeeded);
    try {
      const sources = async function* () {
        yield* files;
        for (const id of new Set([...ids, ...listed]))
          yield { name: id, text: await exportOf(await call.connect(), id) };
      };
      return await checkAll(call, checker.replay, sources());
    } finally {
      await checker.close();
    }
  },
};

interface Source {
  /** The file, or the id of the run. */
  readonly name: string;
  readonly text: string;
}

async function checkAll(call: Call, replay: LocalServer['replay'], sources: AsyncIterable<Source>): Promise<number> {
  const allowsUnverified = call.flag('allow-unverified');
  const checks: ReplayCheck[] = [];
  for await (const { name, text } of sources) {
    call.interrupt.signal.throwIfAborted();
    const check = await replay(text, { allowsUnverified }).catch((error: unknown) => {
      const { code, message } = error as Error & { readonly code?: unknown };
      throw code === 'VALIDATION_FAILED' ? usageError(`${name}: ${message}`) : error;
    });
    checks.push(check);
    if (!call.isJson) show(call, check);
  }
  const count = (status: ReplayCheck['status']) => checks.filter((check) => check.status === status).length;
  const [same, diverged, unsupported] = [count('same'), count('diverged'), count('unsupported')];
  if (call.isJson) call.terminal.json({ same, diverged, unsupported, runs: checks });
  else call.terminal.line(`${same} same, ${diverged} diverged, ${unsupported} unsupported`, 'bold');
  // Without a checked run nothing has been shown.
  return diverged > 0 || (same === 0 && unsupported > 0) ? EXIT.failed : EXIT.ok;
}

function show(call: Call, { run_id: id, agent, status, divergence, reason }: ReplayCheck): void {
  const { terminal } = call;
  terminal.line(`${status.padEnd(11)}  ${id}  ${agent}`, STYLES[status]);
  if (reason !== undefined) terminal.line(`  ${reason}`);
  if (!divergence) return;
  const { step, kind, changes = [{ path: '', ...divergence }] } = divergence;
  terminal.line(`  ${step}: ${TEXTS[kind]}`);
  for (const { path, expected, actual } of changes) {
    if (path !== '') terminal.line(`    ${path}`);
    if (expected !== undefined) terminal.line(`    - ${indented(expected)}`);
    if (actual !== undefined) terminal.line(`    + ${indented(actual)}`);
  }
}

const TEXTS: Readonly<Record<NonNullable<ReplayCheck['divergence']>['kind'], string>> = {
  agent: 'the application has no such agent or workflow',
  request: 'the request of the model call differs',
  unverified:
    'the request that was sent is unknown, since the exporting server had other code or configuration, or a budget shortened the reply (--allow-unverified accepts it)',
  call: 'the tool call differs',
  missing: 'the journal lacks the step',
  unused: 'the run does not reach the step',
  subject: 'the step has another model or tool',
  result: 'the outcome differs',
  error: 'the run fails',
};

function indented(text: string): string {
  return text.replaceAll('\n', '\n      ');
}

/** The application of the folder: the one that exports the runs, else one on a database in memory. */
async function openChecker(call: Call, isServerNeeded: boolean): Promise<Pick<LocalServer, 'replay' | 'close'>> {
  const connection = isServerNeeded ? await call.connect() : undefined;
  // The call closes its connection.
  const replay = connection?.replay;
  if (replay) return { replay, close: () => Promise.resolve() };
  const { openLocalServer } = await import('../server/index.js');
  const config = {
    DATABASE_URL: 'sqlite::memory:',
    API_KEYS: '',
    MIGRATE: 'on',
    LOG_LEVEL: call.flag('verbose') ? 'info' : 'error',
    HTTP_PREFIX: '',
    HOST: '127.0.0.1',
  };
  return openLocalServer({ config, executesRuns: false });
}

/** Ids of the runs of the last `age` ms that have ended, newest first. */
async function listRuns(call: Call, age: number): Promise<readonly string[]> {
  const { client } = await call.connect();
  const most = parseCount(call.text('limit'), '--limit') ?? LIMIT;
  const query = {
    status: ENDED,
    from: new Date(Date.now() - age).toISOString(),
    ...given({ agent: call.text('agent') }),
  };
  const ids: string[] = [];
  let cursor: string | null | undefined;
  while (ids.length < most && cursor !== null) {
    const page = await client.runs.list({ ...query, limit: Math.min(100, most - ids.length), ...given({ cursor }) });
    ids.push(...page.runs.map(({ run_id: id }) => id));
    cursor = page.next;
  }
  return ids;
}

/** @throws CliError */
function parseAge(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === '') throw usageError('--since must be an age, such as 7d, 12h or 30m.');
  return Number(count) * UNITS[unit]!;
}

/** Whether a word names a file, not a run. */
export function isFile(word: string): boolean {
  return word.endsWith('.json') || existsSync(word);
}

/** @throws CliError */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
