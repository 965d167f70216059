import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError, type Principal } from '../common/index.js';
import { hasScope } from './access.policy.js';
import { keyFrom } from './api-key.parser.js';
import { Authenticator } from './authenticator.js';
import { KeyUseRegistry } from './keys/key-use.registry.js';
import { refuseForeignHost } from './local-host.policy.js';
import type { PrincipalRequest } from './principal-request.types.js';
import { IS_PUBLIC } from './public.decorator.js';
import { REQUIRED_SCOPE } from './requires.decorator.js';
import type { Scope } from './scope.types.js';

/**
 * Gives every HTTP request its principal and lets it through if that may do what the route does; denies by default.
 * Other contexts (a tool call, above all) already have the principal of their run and pass untouched.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly use: KeyUseRegistry,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType<string>() !== 'http') return true;
    const request = context.switchToHttp().getRequest<PrincipalRequest>();
    if (this.metadata(IS_PUBLIC, context)) {
      if (this.use.isOpen) refuseForeignHost(request);
      return true;
    }
    const principal = await this.authenticator.authenticate(request);
    if (!principal) throw unauthenticated(request);
    checkScope(principal, this.metadata(REQUIRED_SCOPE, context) as readonly Scope[] | undefined);
    request.principal = principal;
    return true;
  }

  private metadata(key: string, context: ExecutionContext): unknown {
    return this.reflector.getAllAndOverride<unknown>(key, [context.getHandler(), context.getClass()]);
  }
}

function unauthenticated({ headers }: PrincipalRequest): AppError {
  return new AppError(
    'UNAUTHENTICATED',
    keyFrom(headers) === undefined
      ? 'No API key: send it as `Authorization: Bearer <key>` or `X-API-Key: <key>`.'
      : 'This API key is not known here: check it, or ask an admin for one.',
  );
}

function checkScope(principal: Principal, scopes: readonly Scope[] = []): void {
  if (scopes.length === 0) {
    throw new AppError('FORBIDDEN', 'This route does not say which scope it needs, and is served to nobody.');
  }
  if (scopes.some((scope) => hasScope(principal, scope))) return;
  throw new AppError('FORBIDDEN', `This needs ${named(scopes)}, and ${whyNot(principal, scopes)}.`, {
    details: scopes.length === 1 ? { scope: scopes[0] } : { scopes },
  });
}

function named(scopes: readonly Scope[]): string {
  const quoted = scopes.map((scope) => `"${scope}"`).join(', ');
  return scopes.length === 1 ? `the scope ${quoted}` : `one of the scopes ${quoted}`;
}

function whyNot({ roles }: Principal, scopes: readonly Scope[]): string {
  if (scopes.some((scope) => hasScope({ roles }, scope))) return 'the key is narrowed to others';
  return `the roles ${roles.join(', ') || '(none)'} do not have ${scopes.length === 1 ? 'it' : 'one'}`;
}
