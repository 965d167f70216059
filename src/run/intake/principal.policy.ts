import { AppError, fieldMistake, type Principal } from '../../common/index.js';

/** What every database stores and gives back alike, and what a session's slot can be told apart by. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** @throws AppError `VALIDATION_FAILED` when an application has named a principal or its tenant as none can be */
export function checkPrincipal({ id, tenant }: Principal): void {
  for (const [field, name] of Object.entries({ id, tenant })) {
    if (NAME.test(name)) continue;
    const message = `The principal's ${field} must be 1 to 128 characters, without control characters.`;
    throw new AppError('VALIDATION_FAILED', message, {
      details: { errors: [fieldMistake(`principal.${field}`, message, 'isName', name)] },
    });
  }
}
