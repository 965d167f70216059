import { hash } from 'node:crypto';
import { AppError } from '../errors/index.js';
import { Cipher } from '../security/index.js';
import { stepPlace } from './row-place.factory.js';
import type { RecordedStep, RunRecord } from './run.types.js';

type RunKey = Pick<RunRecord, 'id' | 'tenant'>;

const MAX_SUBJECT_LENGTH = 256;

/**
 * Shortens and cleans a subject, which may be a name that a model made up, to text that every database stores
 * unchanged.
 */
export function toSubject(about: string): string {
  return about.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().replaceAll('\0', '\ufffd');
}

/** SHA-256 (base64url) of a request's body as JSON. */
export function toRequestHash(body: object): string {
  return hash('sha256', JSON.stringify(body), 'base64url');
}

/** A step's result as JSON text. */
export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/**
 * The result of a recorded step.
 * @throws AppError `STEP_CONFLICT` when it was recorded with another subject, `STORED_DATA_INVALID` when its row is damaged
 */
export function replayStep({ id: runId, tenant }: RunKey, recorded: RecordedStep, subject: string): unknown {
  if (recorded.subject === subject) return Cipher.parse(recorded.result, stepPlace(tenant, runId, recorded.name));
  throw new AppError(
    'STEP_CONFLICT',
    `Run ${runId} recorded step "${recorded.name}" with subject "${recorded.subject}", but the loop now requests it with subject "${subject}": this is not the loop that recorded it.`,
  );
}
