import { AppError } from '../../errors/index.js';
import { compareStepNames, parseStepName } from '../fork/step-name.parser.js';
import type { RunOutcome } from '../run.types.js';
import { toRequestHash } from '../run-record.mapper.js';
import type { CallPlan } from './call-plan.types.js';
import type { ExportedRun } from './exported-run.js';
import type { BuiltRequest, ReplayObserver } from './observed-run-context.js';
import { recordedDecision } from './recorded-decision.policy.js';
import { type Change, changesOf } from './request-change.mapper.js';

/** The first point at which the present code differs from the recorded run. */
export interface Divergence {
  /** The name of the step, `start` or `end`. */
  readonly step: string;
  /**
   * `agent`: the application has no such agent or workflow. `request`: the request of a model call differs. `unverified`: the request
   * that was sent is unknown. `call`: the decision about a tool call or the input of its tool differs. `missing`: the present
   * code requests a step that the journal lacks. `unused`: it does not reach a recorded step. `subject`: it executes another
   * tool or model. `result`: the run or a node ends otherwise. `error`: the present code fails.
   */
  readonly kind: 'agent' | 'request' | 'unverified' | 'call' | 'missing' | 'unused' | 'subject' | 'result' | 'error';
  readonly expected: string;
  readonly actual: string;
  /** The differing parts, up to 20. */
  readonly changes?: readonly Change[];
}

type Json = Readonly<Record<string, unknown>>;
type Step = ExportedRun['steps'][number];

export interface ComparisonOptions {
  /** Whether a request passes that equals the exported one, if that is not the one that was sent. */
  readonly allowsUnverified: boolean;
  /** Masks secrets. */
  readonly mask: (text: string) => string;
}

/** Compares the replay of a run with its journal. */
export class RunComparison implements ReplayObserver {
  private readonly found: Divergence[] = [];
  private readonly steps: ReadonlyMap<string, Step>;
  private readonly requests: ReadonlyMap<string, ExportedRun['requests'][number]>;
  private readonly calls: ReadonlyMap<string, ExportedRun['calls'][number]>;
  /** The step at which the replay ends as the run did. */
  private endedAt: string | null = null;
  /** The step whose requests have different forms. */
  incomparable: string | null = null;

  constructor(
    private readonly exported: ExportedRun,
    private readonly options: ComparisonOptions,
  ) {
    this.steps = new Map(exported.steps.map((step) => [step.name, step]));
    this.requests = new Map(exported.requests.map((request) => [request.step, request]));
    this.calls = new Map(exported.calls.map((call) => [call.step, call]));
  }

  requested({ step, form, body }: BuiltRequest): void {
    const recorded = this.requests.get(step);
    if (!recorded) {
      // Without a recorded step, the step itself is the divergence.
      if (!this.steps.has(step) || this.options.allowsUnverified) return;
      return this.diverge({ step, kind: 'unverified', expected: 'a request in the export', actual: 'none' });
    }
    const json = JSON.stringify(body);
    if (recorded.sent_hash !== null && recorded.sent_hash === toRequestHash(json)) return;
    if (recorded.form !== form) {
      this.incomparable = step;
      throw endAt(step);
    }
    if (JSON.stringify(recorded.body) === json) return this.verify(step, recorded);
    const changes = changesOf(recorded.body, body, this.options.mask);
    this.diverge({ step, kind: 'request', ...valuesOf(changes), changes });
  }

  called(plan: CallPlan): void {
    const { step } = plan;
    const recorded = this.steps.get(step);
    const former = this.calls.get(step);
    if (former && former.decision !== plan.decision) return this.differ(step, outlineOf(former), outlineOf(plan));
    const expected = recorded && recordedDecision(this.steps, plan);
    if (expected !== undefined && expected !== plan.decision) return this.differ(step, expected, outlineOf(plan));
    if (former) this.compareInputs(former, plan);
  }

  settled(step: string, outcome: unknown): void {
    const recorded = this.steps.get(step);
    const changes = recorded ? changesOf(recorded.result, outcome, this.options.mask) : [];
    if (changes.length > 0) this.diverge({ step, kind: 'result', ...valuesOf(changes), changes });
  }

  private compareInputs(former: ExportedRun['calls'][number], plan: CallPlan): void {
    const { step } = plan;
    if (former.code !== plan.code) return this.differ(step, outlineOf(former), outlineOf(plan));
    const changes = changesOf({ arguments: former.input }, { arguments: plan.input }, this.options.mask);
    if (changes.length > 0) this.diverge({ step, kind: 'call', ...valuesOf(changes), changes });
  }

  /** The run ended without this step, unless it completed or later steps are recorded. */
  lacked(subject: string): void {
    const isLast = this.unused(new Set()).every((name) => !isLater(name, subject));
    if (this.exported.status !== 'completed' && isLast) {
      this.endedAt ??= subject;
      return;
    }
    this.found.push({ step: subject, kind: 'missing', expected: 'not recorded', actual: 'requested' });
  }

  differed(step: string, recorded: string, present: string): void {
    this.diverge({ step, kind: 'subject', expected: recorded, actual: present });
  }

  async outside<T>(): Promise<T> {
    return this.exported.history as T;
  }

  /**
   * The first divergence, if any.
   * @param used the steps that the replay has requested
   * @param outcome the outcome, or the error of the replay
   */
  first(used: ReadonlySet<string>, outcome: RunOutcome | Error): Divergence | undefined {
    const [first] = this.found.toSorted((one, other) => compareStepNames(one.step, other.step));
    if (first || this.endedAt !== null) return first;
    if (outcome instanceof Error) {
      return { step: 'end', kind: 'error', expected: 'no error', actual: this.options.mask(outcome.message) };
    }
    const [unused] = this.unused(used);
    if (unused !== undefined)
      return { step: unused, kind: 'unused', expected: 'requested', actual: 'the run ends before' };
    return this.endOf(outcome);
  }

  /** A hash proves the exported request; another model that answered for the agent's has received another one. */
  private verify(step: string, { hash, sent_hash: sent }: ExportedRun['requests'][number]): void {
    if (sent === null || hash === sent || this.options.allowsUnverified || this.isFromAnother(step)) return;
    this.diverge({ step, kind: 'unverified', expected: `the sent request, ${sent}`, actual: `${hash}` });
  }

  private isFromAnother(step: string): boolean {
    const { subject = '', result } = this.steps.get(step) ?? {};
    const { model } = (result ?? {}) as { readonly model?: unknown };
    return typeof model === 'string' && !model.startsWith(subject);
  }

  private differ(step: string, expected: string, actual: string): void {
    const { mask } = this.options;
    this.diverge({ step, kind: 'call', expected: mask(expected), actual: mask(actual) });
  }

  private endOf(outcome: RunOutcome): Divergence | undefined {
    const recorded = this.exported.events.findLast(({ type }) => type === `run.${this.exported.status}`);
    if (outcome.kind !== 'finished')
      return { step: 'end', kind: 'result', expected: this.exported.status, actual: outcome.kind };
    const changes = changesOf(endFields(recorded?.data), endFields(outcome.event), this.options.mask);
    return changes.length > 0 ? { step: 'end', kind: 'result', ...valuesOf(changes), changes } : undefined;
  }

  /** The model and tool calls of the loop, and the nodes, that are recorded and not used, in order. */
  private unused(used: ReadonlySet<string>): string[] {
    // The result of a failed attempt of a node answers for its steps.
    const failed = this.exported.steps.filter(({ name }) => isFailedAttempt(name)).map(({ subject }) => subject);
    const isUnused = (name: string) =>
      !isOfEndedScript(name, this.steps) &&
      (isCall(name) || isNode(name)) &&
      !used.has(name) &&
      !failed.includes(name.split(':')[1] ?? '');
    return [...this.steps.keys()].filter(isUnused).toSorted(compareStepNames);
  }

  private diverge(divergence: Divergence): never {
    this.found.push(divergence);
    throw endAt(divergence.step);
  }
}

/** Whether the call is one of a script with a recorded result, which is not executed again. */
function isOfEndedScript(name: string, steps: ReadonlyMap<string, unknown>): boolean {
  const { iteration, call, inner } = parseStepName(name);
  return inner > 0 && steps.has(`tool:${iteration}:${call}`);
}

/** The loop ends as if the run were handed over. */
function endAt(step: string): AppError {
  return new AppError('SHUTTING_DOWN', `The replay ends at step ${step}.`);
}

/** The values of the first change. */
function valuesOf([first]: readonly Change[]): { readonly expected: string; readonly actual: string } {
  return { expected: first?.expected ?? 'absent', actual: first?.actual ?? 'absent' };
}

/** Whether a step is a model or tool call of the loop, not the summary of earlier messages. */
function isCall(name: string): boolean {
  const { kind, word, iteration } = parseStepName(name);
  return (kind === 'model' || kind === 'tool') && word === '' && Number.isFinite(iteration);
}

/** Whether a step is the outcome of a node. */
function isNode(name: string): boolean {
  return name.startsWith('node:') && !isFailedAttempt(name);
}

function isFailedAttempt(name: string): boolean {
  return name.startsWith('node:failed:');
}

function isLater(name: string, subject: string): boolean {
  return parseStepName(name).iteration > parseStepName(subject).iteration;
}

function outlineOf({ decision, code, reason }: Pick<CallPlan, 'decision' | 'code' | 'reason'>): string {
  const why = [code, reason].filter((text) => text !== undefined && text !== '').join(': ');
  return why === '' ? decision : `${decision} (${why})`;
}

/** The compared fields of the event that ends a run. */
function endFields(event: unknown): Json {
  const { type, result, output, finish_reason, error } = (event ?? {}) as Json;
  return { type, result, output, finish_reason, error: (error as Json | undefined)?.['code'] };
}
