import { AppError, parseExactJson } from '../common/index.js';
import type { RecordedStep } from './run.types.js';

const MAX_SUBJECT_LENGTH = 256;

/** A subject may be a name that a model made up: as much of it as every database stores and gives back alike. */
export function toSubject(about: string): string {
  return about.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().replaceAll('\0', '\ufffd');
}

/** What a step gave, as it is recorded. */
export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** The result of a recorded step. @throws AppError `STEP_CONFLICT` when it was recorded about another subject */
export function replayStep(runId: string, recorded: RecordedStep, subject: string): unknown {
  if (recorded.subject === subject) return parseExactJson(recorded.result);
  throw new AppError(
    'STEP_CONFLICT',
    `Run ${runId} recorded step "${recorded.name}" about "${recorded.subject}", but now it is asked for about "${subject}": the loop is not the one that recorded it.`,
  );
}
