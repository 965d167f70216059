import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';

/** A valid session id: 1 to 128 of `A-Z a-z 0-9 _ -`. */
export const SESSION_ID_PATTERN = /^[A-Za-z0-9_-]{1,128}$/;

/** @param field path of the id in the request @throws AppError `VALIDATION_FAILED` for an invalid id */
export function assertSessionId(id: string, field = 'id'): void {
  if (typeof id === 'string' && SESSION_ID_PATTERN.test(id)) return;
  const message = 'must be 1 to 128 of A-Z a-z 0-9 _ -';
  throw new AppError('VALIDATION_FAILED', `The session id ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isSessionId', id)] },
  });
}
