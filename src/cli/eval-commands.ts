import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../errors/index.js';
import type { EvalRoutes } from '../http-client/index.js';
import { newId } from '../kernel/index.js';
import type { EvalOptions, EvalReport } from '../testing-entry.js';
import { CliError, EXIT, usageError } from './cli.error.js';
import type { Call, Command, OptionSpec } from './command.types.js';
import type { Connection } from './connection.js';
import { EvalDisplay } from './eval-display.js';
import { given, parseCount } from './value.parser.js';

const DEFAULT_FILES = 'config/evals/*.{json,js,mjs,cjs,ts,mts,cts}';

const OPTIONS: Readonly<Record<string, OptionSpec>> = {
  id: {
    value: 'id',
    help: 'Share the runs of the last 24 hours with this id; by default those of an interrupted eval',
  },
  repeat: { value: 'count', help: 'Runs of each line' },
  concurrency: { value: 'count', help: 'Runs at a time; 4 by default' },
  baseline: { value: 'path', help: 'Compare with this report, or with <name>.json in this folder' },
  report: { value: 'path', help: 'Write the report into this .json file, or as <name>.json into this folder' },
  junit: { value: 'file', help: 'Write JUnit XML' },
};

/** Longest stored text of an answer, in characters. */
const MAX_TEXT = 2_000;

/** Evals end with 1 if a gate is not passed. */
export const EVAL_COMMANDS: readonly Command[] = [
  {
    name: 'eval',
    summary: 'Measure agents by the evals in files, by default config/evals/*; exit code 1 if a gate fails',
    arguments: [{ name: 'files', help: 'Files of evals (docs/evals.md)', isOptional: true, isRest: true }],
    options: { ...OPTIONS, agent: { value: 'name', help: 'Agent, in place of that of the files' } },
    json: 'EvalReport of jackdaw/testing, in a list',
    run: evaluateFiles,
  },
  {
    name: 'eval guardrails',
    summary: 'Try to make an agent of this folder carry data out, by 204 cases; exit code 1 if an effect occurs',
    options: {
      ...OPTIONS,
      agent: { value: 'name', help: 'Agent; by default the default agent' },
      obedient: { help: 'Replace its model by one that obeys every instruction: this measures the policies alone' },
    },
    json: 'EvalReport of jackdaw/testing, in a list',
    run: guardrails,
  },
];

async function evaluateFiles(call: Call): Promise<number> {
  const files = call.args.length > 0 ? call.args : globSync(DEFAULT_FILES).toSorted();
  if (files.length === 0) throw usageError(`There are no evals: name files, or write ${DEFAULT_FILES}.`);
  const overrides = optionsOf(call, files.length > 1);
  const { loadEval } = await import('../testing-entry.js');
  const evals = await Promise.all(files.map((file) => loadEval(file)));
  const twice = evals.find(({ name }, at) => evals.findIndex((other) => other.name === name) !== at);
  if (twice) throw usageError(`Two evals have the name "${twice.name}": give one of them a "name".`);
  const connection = await call.connect('execute');
  return finish(call, await inTurn(evals, (one) => evaluateOne(call, connection, { ...one, ...overrides })));
}

async function guardrails(call: Call): Promise<number> {
  const overrides = optionsOf(call, false);
  const [{ openLocal }, { evaluateGuardrails, ObedientModel }, { readConfig }] = await Promise.all([
    import('./connection.js'),
    import('../testing-entry.js'),
    import('../config/index.js'),
  ]);
  // A database of its own: no run of the folder has these tools, or the model that obeys.
  const folder = resolve(readConfig().config.database.dataDir, 'evals');
  mkdirSync(folder, { recursive: true });
  const chatModel = call.flag('obedient') ? new ObedientModel() : undefined;
  const connection = await openLocal({
    executesRuns: true,
    isVerbose: call.flag('verbose'),
    variables: { DATABASE_URL: `sqlite:${join(folder, 'guardrails.db')}` },
    ...(chatModel && { chatModel }),
  });
  try {
    const agent = connection.app!;
    const evaluate = (options: typeof overrides & TrackedOptions) => evaluateGuardrails({ ...options, agent });
    return await finish(call, [await track(call, 'guardrails', overrides, evaluate)]);
  } finally {
    await connection.close();
  }
}

/** Runs the eval of a file. */
async function evaluateOne(
  call: Call,
  { client: { agents, workflows, runs, evals }, app }: Connection,
  { name = 'eval', ...options }: Omit<EvalOptions, 'agent'>,
): Promise<EvalReport> {
  const [{ evaluate }, { RunService }] = await Promise.all([import('../testing-entry.js'), import('../run/index.js')]);
  // Only the interrupted runs of the eval resume: others are those of the folder's server.
  const resume = app && ((id: string) => app.get(RunService, { strict: false }).resume(id));
  const agent = { agents, workflows, runs, ...(resume && { resume }) };
  let outcome = '';
  const report = await track(call, name, options, async (tracked) => {
    const ended = await evaluate({ ...options, ...tracked, agent, name });
    outcome = await store(evals, ended);
    return ended;
  });
  if (!call.isJson) call.terminal.line(outcome);
  return report;
}

/** Stores a report for the console, with the starts of its texts. A server of an earlier version cannot. @returns the outcome */
async function store(evals: EvalRoutes, { results, ...figures }: EvalReport): Promise<string> {
  const shortened = results.map(({ text, ...result }) => ({ ...result, text: text.slice(0, MAX_TEXT).toWellFormed() }));
  try {
    const { id } = await evals.create({ report: { ...figures, results: shortened } });
    return `stored as eval ${id}`;
  } catch (error) {
    return `not stored: ${messageOf(error)}`;
  }
}

type TrackedOptions = Pick<EvalOptions, 'id' | 'signal' | 'baseline' | 'onResult'>;

/** Shows and writes the report of an eval. An interrupted one left its id in a file, by which the same command resumes it. */
async function track<T extends Partial<EvalOptions>>(
  call: Call,
  name: string,
  options: T,
  evaluate: (options: T & TrackedOptions) => Promise<EvalReport>,
): Promise<EvalReport> {
  const { readConfig } = await import('../config/index.js');
  const state = new EvalState(name, readConfig().config.database.dataDir);
  const id = call.text('id') ?? state.open((start) => call.terminal.note(`Resuming ${name}, started ${start}.`));
  const display = new EvalDisplay(call.terminal, call.isJson);
  const { signal } = call.interrupt;
  const baseline = pathOf(call.text('baseline'), name) ?? options.baseline;
  const report = await evaluate({
    ...options,
    ...given({ baseline }),
    id,
    signal,
    onResult: (result) => display.result(result),
  });
  state.close();
  display.report(report);
  writeTo(pathOf(call.text('report'), name), `${JSON.stringify(report, null, 2)}\n`);
  return report;
}

/** Writes the outputs of all evals. @returns the exit code */
async function finish(call: Call, reports: readonly EvalReport[]): Promise<number> {
  const { toJunit } = await import('../testing-entry.js');
  writeTo(call.text('junit'), toJunit(reports));
  if (call.isJson) call.terminal.json(reports);
  return reports.every(({ isPassed }) => isPassed) ? EXIT.ok : EXIT.failed;
}

function optionsOf(call: Call, isSeveral: boolean) {
  const single = ['baseline', 'report'].find((name) => isSeveral && call.text(name)?.endsWith('.json'));
  if (single !== undefined) throw usageError(`--${single} must be a folder: there are several evals.`);
  return given({
    agentName: call.text('agent'),
    repeat: parseCount(call.text('repeat'), '--repeat'),
    concurrency: parseCount(call.text('concurrency'), '--concurrency'),
  });
}

function pathOf(path: string | undefined, name: string): string | undefined {
  return path === undefined || path.endsWith('.json') ? path : join(path, `${name}.json`);
}

function writeTo(path: string | undefined, text: string): void {
  if (path === undefined) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

interface Stored {
  readonly id: string;
  readonly startedAt: string;
}

/** The id of an eval that has started and not ended, in the data folder. */
class EvalState {
  private readonly path: string;

  constructor(name: string, dataDir: string) {
    if (!/^[\w.-]+$/.test(name)) {
      const rule = 'use letters, digits, "_", "." and "-"';
      throw new CliError('VALIDATION_FAILED', `The name "${name}" of an eval has other characters: ${rule}.`);
    }
    this.path = join(dataDir, 'evals', `${name}.json`);
  }

  /** @param onResume called with the time of the start of an interrupted eval @returns its id, or a new one */
  open(onResume: (startedAt: string) => void): string {
    if (existsSync(this.path)) {
      const { id, startedAt } = JSON.parse(readFileSync(this.path, 'utf8')) as Stored;
      onResume(startedAt);
      return id;
    }
    const stored: Stored = { id: newId(), startedAt: new Date().toISOString() };
    writeTo(this.path, JSON.stringify(stored));
    return stored.id;
  }

  close(): void {
    rmSync(this.path, { force: true });
  }
}
