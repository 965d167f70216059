import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import type { Principal } from 'jackdaw';

const TENANT = 'shop';
/** A production application uses sessions, or tokens of an identity provider. */
const CALLERS = new Map<string, Principal>([
  ['Bearer ann', { id: 'ann', tenant: TENANT, roles: ['user'] }],
  ['Bearer bob', { id: 'bob', tenant: TENANT, roles: ['user'] }],
  ['Bearer staff', { id: 'sue', tenant: TENANT, roles: ['admin'] }],
]);

export interface KnownRequest {
  readonly headers: { readonly authorization?: string };
  caller?: Principal;
}

/** Authenticates the caller. Jackdaw stores the principal with the run: tools and their guards get it, also after a crash. */
@Injectable()
export class CallerGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<KnownRequest>();
    const caller = CALLERS.get(request.headers.authorization ?? '');
    if (!caller) throw new UnauthorizedException();
    request.caller = caller;
    return true;
  }
}
