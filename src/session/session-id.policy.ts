import { AppError } from '../errors/index.js';
import { fieldMistake, ID_RULE, isId } from '../kernel/index.js';

/** @param field path of the id in the request @throws AppError `VALIDATION_FAILED` for an invalid id */
export function assertSessionId(id: string, field = 'id'): void {
  if (isId(id)) return;
  const message = `must be ${ID_RULE}`;
  throw new AppError('VALIDATION_FAILED', `The session id ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isSessionId', id)] },
  });
}
