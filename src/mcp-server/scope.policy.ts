import { AppError } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { hasScope, type Scope } from '../security/index.js';

/** @throws AppError `FORBIDDEN` */
export function assertScope(principal: Principal, scope: Scope): void {
  if (hasScope(principal, scope)) return;
  throw new AppError('FORBIDDEN', `The scope "${scope}" is required, and you do not have it.`, { details: { scope } });
}
