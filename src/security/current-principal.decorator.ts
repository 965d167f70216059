import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import type { PrincipalRequest } from './principal-request.types.js';

/** The principal of the current request. Public routes have none: the parameter then throws. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<PrincipalRequest>();
  if (principal) return principal;
  throw new AppError(
    'UNAUTHENTICATED',
    'This route needs a principal, and no guard has set one: it must not be public.',
  );
});
