import { AppError, type Principal } from '../common/index.js';
import { hasScope, type Scope } from '../security/index.js';

/** @throws AppError `FORBIDDEN` */
export function assertScope(principal: Principal, scope: Scope): void {
  if (hasScope(principal, scope)) return;
  throw new AppError('FORBIDDEN', `This needs the scope "${scope}", which you do not have.`, { details: { scope } });
}
