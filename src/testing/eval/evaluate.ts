import { basename } from 'node:path';
import { AppError, messageOf } from '../../errors/index.js';
import { newId, untilAborted } from '../../kernel/index.js';
import { compareReports, readReport } from './comparison.mapper.js';
import { readDataset } from './dataset.parser.js';
import { addUsage, askerOf, type EvalAsker, type EvalTarget, hashOf } from './eval-asker.js';
import type { EvalReport, EvalResult } from './eval-report.types.js';
import type {
  EvalAnswer,
  EvalLine,
  EvalSubject,
  EvalUsage,
  Score,
  Scorer,
  ScorerContext,
  ScorerFunction,
} from './eval.types.js';
import { assertGates, decideGates, type EvalGates } from './gates.policy.js';
import { mean, percentile, wilson } from './statistics.js';

export interface EvalOptions {
  /** The agent, a Nest application with it, or the `JackdawClient` of a server. */
  readonly agent: EvalTarget;
  /** Name of another agent of the application; default: the default agent. */
  readonly agentName?: string;
  /** Name of a workflow of the application, in place of an agent. The lines of its dataset have objects as inputs. */
  readonly workflow?: string;
  /** Name in reports; by default that of the dataset. */
  readonly name?: string;
  /** Evals with the same id share their runs for 24 hours, so that an interrupted eval resumes; by default a new id. */
  readonly id?: string;
  /** The path of a file in JSON Lines, or its lines. */
  readonly dataset: string | readonly EvalLine[];
  readonly scorers: readonly (Scorer | ScorerFunction)[];
  /** Runs of each line; default 1. */
  readonly repeat?: number;
  /** Runs at a time; default 4. */
  readonly concurrency?: number;
  readonly gates?: EvalGates;
  /** The report of an earlier eval, or its file. */
  readonly baseline?: string | EvalReport;
  /** Called after each repetition, in the order in which they end. */
  readonly onResult?: (result: EvalResult) => void;
  /** Ends the eval; its runs continue. */
  readonly signal?: AbortSignal;
}

interface Trial {
  readonly line: EvalLine;
  readonly repetition: number;
}

/** A repetition with such a status has failed. */
const UNSCORED = ['failed', 'cancelled', 'refused'];
const NOTHING: EvalUsage = { tokens: 0, cost: 0 };
const DEFAULT_CONCURRENCY = 4;
/** Longest input in a report, in characters. */
const MAX_INPUT = 200;

/**
 * Asks an agent all questions of a dataset and scores its answers. Each repetition of a line is a durable run.
 * @throws AppError `VALIDATION_FAILED` for a wrong dataset or option, `AGENT_NOT_FOUND`; a failed run is a result
 */
export async function evaluate(options: EvalOptions): Promise<EvalReport> {
  const { repeat = 1, concurrency = DEFAULT_CONCURRENCY, gates = {}, baseline } = options;
  const subject = subjectOf(options);
  assertCount('repeat', repeat);
  assertCount('concurrency', concurrency);
  const scorers = toScorers(options.scorers);
  assertGates(
    gates,
    scorers.map(({ name }) => name),
    baseline !== undefined,
  );
  const before = typeof baseline === 'string' ? readReport(baseline) : baseline;
  const lines = linesOf(options);
  const asker = askerOf(options.agent);
  const head = {
    name: nameOf(options),
    id: options.id ?? newId(),
    ...subject,
    revision: await asker.revision(subject),
    startedAt: new Date().toISOString(),
    lines: lines.length,
    repeat,
  };
  const trials = lines.flatMap((line) => Array.from({ length: repeat }, (_, at) => ({ line, repetition: at + 1 })));
  const { signal = new AbortController().signal, onResult } = options;
  const work = inParallel(trials, concurrency, async (trial) => {
    signal.throwIfAborted();
    const result = await runTrial(trial, asker, scorers, head);
    onResult?.(result);
    return result;
  });
  const results = await untilAborted(work, signal);
  return toReport({ ...head, ...summary(results, scorers), results }, before, gates);
}

type Figures = Omit<EvalReport, 'gates' | 'isPassed' | 'comparison'>;

function toReport({ results, ...figures }: Figures, before: EvalReport | undefined, gates: EvalGates): EvalReport {
  const compared = before && { comparison: compareReports(before, { ...figures, results }) };
  const decided = decideGates(gates, { ...figures, results, ...compared });
  const isPassed = decided.every((gate) => gate.isPassed);
  return { ...figures, ...compared, gates: decided, isPassed, results };
}

/** @throws AppError `VALIDATION_FAILED` for an agent beside a workflow */
function subjectOf({ agentName, workflow }: EvalOptions): EvalSubject {
  if (agentName !== undefined && workflow !== undefined)
    throw new AppError('VALIDATION_FAILED', 'An eval has an agent or a workflow, not both: remove one of them.');
  return { ...(agentName !== undefined && { agent: agentName }), ...(workflow !== undefined && { workflow }) };
}

/** @throws AppError `VALIDATION_FAILED` */
function linesOf({ dataset, workflow }: EvalOptions): readonly EvalLine[] {
  const lines = typeof dataset === 'string' ? readDataset(dataset, workflow !== undefined) : dataset;
  const kind = workflow === undefined ? 'string' : 'object';
  const wrong = lines.find(({ input }) => typeof input !== kind);
  if (!wrong) return lines;
  const rule = kind === 'string' ? 'a text, since an agent answers' : 'an object, since a workflow answers';
  throw new AppError('VALIDATION_FAILED', `The input of the line "${wrong.id}" must be ${rule}.`);
}

/** By default the name of the dataset's file. */
function nameOf({ name, dataset }: EvalOptions): string {
  return name ?? (typeof dataset === 'string' ? basename(dataset).replace(/\.jsonl?$/, '') : 'eval');
}

function assertCount(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new AppError('VALIDATION_FAILED', `${name} must be a whole number from 1.`);
}

function toScorers(given: EvalOptions['scorers']): Scorer[] {
  const scorers = given.map((one, at) => (typeof one === 'function' ? ofFunction(one, at) : one));
  const twice = scorers.find(({ name }, at) => scorers.findIndex((other) => other.name === name) !== at);
  if (twice) throw new AppError('VALIDATION_FAILED', `Two scorers have the name "${twice.name}": give one a "name".`);
  if (scorers.length === 0) throw new AppError('VALIDATION_FAILED', 'An eval needs at least one scorer.');
  return scorers;
}

function ofFunction(score: ScorerFunction, at: number): Scorer {
  return {
    name: score.name === '' ? `scorer${at + 1}` : score.name,
    score: async (context) => {
      try {
        const value = await score(context);
        return typeof value === 'object' ? value : { score: Number(value), reason: String(value) };
      } catch (error) {
        return { score: 0, reason: messageOf(error) };
      }
    },
  };
}

async function runTrial(
  { line, repetition }: Trial,
  asker: EvalAsker,
  scorers: readonly Scorer[],
  { id, agent, workflow, revision }: Pick<EvalReport, 'id' | 'agent' | 'workflow' | 'revision'>,
): Promise<EvalResult> {
  const { id: name, input, isTainted } = line;
  const key = `eval-${hashOf([id, name, input, repetition, revision])}`;
  const answer = await asker.ask({ input, agent, workflow, key, ...(isTainted && { isTainted }) }).catch(refusedAnswer);
  const { calls: _calls, output: _output, ...known } = answer;
  const result = { line: name, input: startOf(input), repetition, ...known };
  if (UNSCORED.includes(answer.status)) return { ...result, scores: {}, isPassed: false };
  const ask: ScorerContext['ask'] = async (to, question, responseFormat) => {
    const judgeKey = `eval-${hashOf([key, to, question, await asker.revision({ agent: to })])}`;
    return asker.ask({ input: question, agent: to, key: judgeKey, ...(responseFormat && { responseFormat }) });
  };
  const scores = await scoresOf(scorers, { line, answer, ask, key });
  const isPassed = scorers.every(({ name: one, ...rules }) => rules.isTracked || isPass(scores[one]!, rules));
  return { ...result, scores, isPassed };
}

function startOf(input: EvalLine['input']): string {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return text.length > MAX_INPUT ? `${text.slice(0, MAX_INPUT).toWellFormed()}…` : text;
}

/** The answer to a question that the application refuses. @throws the error that ends the eval otherwise */
function refusedAnswer(error: unknown): EvalAnswer {
  if (Reflect.get(Object(error), 'code') !== 'INPUT_BLOCKED') throw error;
  const none = { runId: '', text: '', calls: [], steps: 0, durationMs: 0, usage: NOTHING };
  return { ...none, status: 'refused', error: messageOf(error) };
}

async function scoresOf(scorers: readonly Scorer[], context: ScorerContext): Promise<Record<string, Score>> {
  const scores: Record<string, Score> = {};
  for (const { name, score } of scorers) {
    const given = await score(context);
    if (!(given.score >= 0 && given.score <= 1))
      throw new AppError(
        'VALIDATION_FAILED',
        `The scorer "${name}" returned ${given.score}, which is not from 0 to 1.`,
      );
    scores[name] = given;
  }
  return scores;
}

function isPass({ score }: Score, { passAt = 1 }: Pick<Scorer, 'passAt'>): boolean {
  return score >= passAt;
}

function summary(results: readonly EvalResult[], scorers: readonly Scorer[]) {
  const durations = results.map(({ durationMs }) => durationMs);
  const judged = results.flatMap(({ scores }) => Object.values(scores).map(({ usage }) => usage ?? NOTHING));
  return {
    passRate: wilson(results.filter(({ isPassed }) => isPassed).length, results.length),
    scorers: Object.fromEntries(
      scorers.map(({ name, ...rules }) => {
        const scores = results.map((result) => result.scores[name] ?? { score: 0, reason: '' });
        const passed = scores.filter((score) => isPass(score, rules)).length;
        return [name, { mean: mean(scores.map(({ score }) => score)), passRate: wilson(passed, results.length) }];
      }),
    ),
    usage: results.map(({ usage }) => usage).reduce(addUsage, NOTHING),
    judgeUsage: judged.reduce(addUsage, NOTHING),
    latencyMs: { median: percentile(durations, 0.5), p95: percentile(durations, 0.95) },
  };
}

/** Maps items in their order, several at a time; the first error ends it. */
async function inParallel<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      try {
        results[at] = await work(items[at]!);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
