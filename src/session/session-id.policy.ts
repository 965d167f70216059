import { AppError, fieldMistake } from '../common/index.js';

/** What a session's id may be: 1 to 128 of `A-Z a-z 0-9 _ -`. */
export const SESSION_ID_PATTERN = /^[A-Za-z0-9_-]{1,128}$/;

/** @param field where it was given @throws AppError `VALIDATION_FAILED` for an id that no session may have */
export function assertSessionId(id: string, field = 'id'): void {
  if (typeof id === 'string' && SESSION_ID_PATTERN.test(id)) return;
  const message = 'must be 1 to 128 of A-Z a-z 0-9 _ -';
  throw new AppError('VALIDATION_FAILED', `The session id ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isSessionId', id)] },
  });
}
