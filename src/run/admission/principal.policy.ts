import { AppError } from '../../errors/index.js';
import { fieldMistake, type Principal } from '../../kernel/index.js';

/** Characters that every database stores unchanged; a line break separates the parts of a session's slot. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** @throws AppError `VALIDATION_FAILED` when the application supplied an invalid principal id or tenant */
export function checkPrincipal({ id, tenant }: Principal): void {
  for (const [field, name] of Object.entries({ id, tenant })) {
    if (NAME.test(name)) continue;
    const message = `The principal's ${field} must be 1 to 128 characters, without control characters.`;
    throw new AppError('VALIDATION_FAILED', message, {
      details: { errors: [fieldMistake(`principal.${field}`, message, 'isName', name)] },
    });
  }
}
