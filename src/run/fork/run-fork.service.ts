import { Injectable } from '@nestjs/common';
import { AppError, fieldMistake, parseExactJson } from '../../common/index.js';
import type { Statement } from '../../persistence/index.js';
import type { Cipher } from '../../security/index.js';
import type { ToolCompleted, ToolStarted } from '../run-event.types.js';
import { RunItem } from '../run-item.factory.js';
import { insertEvents, insertStep } from '../run-statement.factory.js';
import { RunService } from '../run.service.js';
import { toSubject } from '../step-record.mapper.js';
import type { RunRecord, StartRun } from '../run.types.js';
import type { CallOutcome, ForkEdits, ForkPlan, GivenStep, RunMarks } from './run-fork.types.js';
import { RunForkStore } from './run-fork.store.js';
import { callOf, forkPoints, prefixBefore } from './run-prefix.policy.js';
import { parseStepName } from './step-name.parser.js';

/** Step names that an error tells of; a long run has thousands. */
const TOLD_STEPS = 30;

/** Calls of one tool that are looked at, in earlier runs. */
const EARLIER_CALLS = 100;

/** Time travel: a new run that has recorded what another one had before a step, and lives from there on. */
@Injectable()
export class RunForkService {
  constructor(
    private readonly store: RunForkStore,
    private readonly runs: RunService,
  ) {}

  /** What a fork would take along. @throws AppError `VALIDATION_FAILED` naming the steps there are */
  async plan(original: RunRecord, fromStep: string): Promise<ForkPlan> {
    const marks = await this.store.marks(original.id);
    const points = forkPoints(marks);
    if (!points.includes(fromStep)) throw notAPoint(original, fromStep, points);
    const prefix = prefixBefore(marks, fromStep);
    const hasReplies = prefix.steps.some((name) => parseStepName(name).kind === 'model');
    return { original, fromStep, prefix, hasReplies, call: callOf(marks, fromStep) };
  }

  /** What a run has recorded and told, for who makes a plan in a way of its own. */
  marks(runId: string): Promise<RunMarks> {
    return this.store.marks(runId);
  }

  /** A value that a run recorded (`RunContext.value`); `null` when it has not. */
  async value(runId: string, place: string): Promise<unknown> {
    const text = await this.store.result(runId, `value:${place}`);
    return text === null ? null : parseExactJson(text);
  }

  /** What the calls came to that a fork takes along, as their steps have it. */
  async calls({ original, prefix }: ForkPlan): Promise<unknown[]> {
    const names = prefix.steps.filter((name) => parseStepName(name).kind === 'tool');
    const results = await Promise.all(names.map((name) => this.store.result(original.id, name)));
    return results.flatMap((text) => (text === null ? [] : [parseExactJson(text)]));
  }

  /** The same of a tool's calls in earlier runs of the session, the last first. */
  async earlierCalls(original: RunRecord, tool: string): Promise<unknown[]> {
    if (original.sessionId === null) return [];
    return (await this.store.earlierCalls(original, tool, EARLIER_CALLS)).map(parseExactJson);
  }

  /**
   * Journals the new run with its copy in one batch, and lets it go on from there.
   * @param start the new run as it would be started
   * @throws AppError `COMMIT_REFUSED` when what was planned is no longer there, `SHUTTING_DOWN`
   */
  async start({ original, fromStep, prefix, call }: ForkPlan, start: StartRun, edits: ForkEdits): Promise<void> {
    const { steps, events } = prefix;
    const given = call && edits.callOutcome ? givenCall(fromStep, call, edits.callOutcome) : edits.given;
    const subject = edits.modelSubject && toSubject(edits.modelSubject);
    await this.runs.submit({
      ...start,
      forkedFrom: original.id,
      statements: [
        ...(start.statements ?? []),
        ...(await this.store.copySteps(original.id, start.id, steps, subject)),
        // The new run's own beginning is its event 1.
        ...(await this.store.copyEvents(original.id, start.id, events, 1)),
        ...(given ? record(start, given, events.length + 1, this.store.cipher) : []),
      ],
    });
  }
}

/** A call that came to a given outcome: its step, and what a call tells. */
function givenCall(fromStep: string, call: NonNullable<ForkPlan['call']>, outcome: CallOutcome): GivenStep {
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
  const told = points.length <= TOLD_STEPS ? points.join(', ') : `${points.slice(0, TOLD_STEPS).join(', ')}, …`;
  const message = `Run "${id}" cannot be forked from "${fromStep}"; its steps are: ${told}`;
  return new AppError('VALIDATION_FAILED', `${message}.`, {
    details: { errors: [fieldMistake('fromStep', message, 'isStep', fromStep)], steps: points },
  });
}
