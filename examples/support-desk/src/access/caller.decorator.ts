import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Principal } from 'jackdaw';
import type { KnownRequest } from './caller.guard.js';

/** The principal that `CallerGuard` has authenticated. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Principal | undefined => {
  return context.switchToHttp().getRequest<KnownRequest>().caller;
});
