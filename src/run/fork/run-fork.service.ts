import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { fieldMistake } from '../../kernel/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import type { Cipher } from '../../security/encryption/index.js';
import type { ToolCompleted, ToolStarted } from '../event/run-event.types.js';
import { RunItem } from '../event/run-item.factory.js';
import { insertEvents, insertStep } from '../run-statement.factory.js';
import { RunService } from '../run.service.js';
import { toSubject } from '../run-record.mapper.js';
import type { RunRecord, StartRun } from '../run.types.js';
import type { CallOutcome, ForkEdits, ForkPlan, GivenStep, RunMarks } from './run-fork.types.js';
import { RunForkStore } from './run-fork.store.js';
import { callOf, forkPoints, prefixBefore } from './run-prefix.policy.js';
import { parseStepName } from './step-name.parser.js';

/** Step names listed in an error; a long run has thousands. */
const LISTED_STEPS = 30;

/** Earlier calls of a tool that are read. */
const EARLIER_CALLS = 100;

/** Time travel: a new run that copies the journal of another run before a step, and continues from there. */
@Injectable()
export class RunForkService {
  constructor(
    private readonly store: RunForkStore,
    private readonly runs: RunService,
  ) {}

  /** Plans a fork. @throws AppError `VALIDATION_FAILED` naming the run's steps */
  async plan(original: RunRecord, fromStep: string): Promise<ForkPlan> {
    const marks = await this.store.marks(original.id);
    const points = forkPoints(marks);
    if (!points.includes(fromStep)) throw notAPoint(original, fromStep, points);
    const prefix = prefixBefore(marks, fromStep);
    const hasReplies = prefix.steps.some((name) => parseStepName(name).kind === 'model');
    return { original, fromStep, prefix, hasReplies, call: callOf(marks, fromStep) };
  }

  /** The recorded steps and events of a run, for callers with their own way of planning. */
  marks(runId: string): Promise<RunMarks> {
    return this.store.marks(runId);
  }

  /** A value that a run recorded (`RunContext.value`); `null` if it did not. */
  async value(runId: string, place: string): Promise<unknown> {
    const text = await this.store.result(runId, `value:${place}`);
    return text === null ? null : parseExactJson(text);
  }

  /** The recorded results of the tool calls that a fork copies. */
  async calls({ original, prefix }: ForkPlan): Promise<unknown[]> {
    const names = prefix.steps.filter((name) => parseStepName(name).kind === 'tool');
    const results = await Promise.all(names.map((name) => this.store.result(original.id, name)));
    return results.flatMap((text) => (text === null ? [] : [parseExactJson(text)]));
  }

  /** The recorded results of a tool's calls in earlier runs of the session, the last first. */
  async earlierCalls(original: RunRecord, tool: string): Promise<unknown[]> {
    if (original.sessionId === null) return [];
    return (await this.store.earlierCalls(original, tool, EARLIER_CALLS)).map(parseExactJson);
  }

  /**
   * Journals the new run with its copied prefix in one batch, and enqueues it.
   * @param start the start data of the new run
   * @throws AppError `COMMIT_REFUSED` when a planned step or event no longer exists, `SHUTTING_DOWN`
   */
  async start({ original, fromStep, prefix, call }: ForkPlan, start: StartRun, edits: ForkEdits): Promise<void> {
    const { steps, events } = prefix;
    const given = call && edits.callOutcome ? suppliedCall(fromStep, call, edits.callOutcome) : edits.given;
    const subject = edits.modelSubject && toSubject(edits.modelSubject);
    await this.runs.submit({
      ...start,
      forkedFrom: original.id,
      statements: [
        ...(start.statements ?? []),
        ...(await this.store.copySteps(original.id, start.id, steps, subject)),
        // Event 1 is the new run's own `run.started`.
        ...(await this.store.copyEvents(original.id, start.id, events, 1)),
        ...(given ? record(start, given, events.length + 1, this.store.cipher) : []),
      ],
    });
  }
}

/** The step and the events of a call with a given outcome. */
function suppliedCall(fromStep: string, call: NonNullable<ForkPlan['call']>, outcome: CallOutcome): GivenStep {
  const { iteration } = parseStepName(fromStep);
  const about = { iteration, call_id: call.id };
  const started: ToolStarted = { type: 'tool.started', ...about, tool: call.name, arguments: call.arguments };
  const completed: ToolCompleted = { type: 'tool.completed', ...about, ...outcome };
  const step = {
    name: fromStep,
    kind: 'tool',
    subject: toSubject(call.name),
    result: JSON.stringify(outcome),
  } as const;
  return { step, events: [started, completed] };
}

function record({ id, principal }: StartRun, { step, events }: GivenStep, last: number, cipher: Cipher): Statement[] {
  const run = { id, tenant: principal.tenant, epoch: 0 };
  const now = Date.now();
  return [
    insertStep(run, step, now, cipher),
    ...insertEvents(
      run,
      events.map((event, at) => new RunItem(last + 1 + at, now, event)),
      cipher,
    ),
  ];
}

function notAPoint({ id }: RunRecord, fromStep: string, points: readonly string[]): AppError {
  const listed = points.length <= LISTED_STEPS ? points.join(', ') : `${points.slice(0, LISTED_STEPS).join(', ')}, …`;
  const message = `Run "${id}" cannot be forked from "${fromStep}"; its steps are: ${listed}`;
  return new AppError('VALIDATION_FAILED', `${message}.`, {
    details: { errors: [fieldMistake('fromStep', message, 'isStep', fromStep)], steps: points },
  });
}
