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
 * Authenticates every HTTP request and checks the scope of its route; denies by default.
 * Other contexts (tool calls) already carry the principal of their run and pass unchanged.
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
      : 'This API key is unknown: check it, or ask an admin for a new one.',
  );
}

function checkScope(principal: Principal, scopes: readonly Scope[] = []): void {
  if (scopes.length === 0) {
    throw new AppError('FORBIDDEN', 'Route has no required scope; access denied.');
  }
  if (scopes.some((scope) => hasScope(principal, scope))) return;
  throw new AppError('FORBIDDEN', `This request needs ${named(scopes)}, and ${whyNot(principal, scopes)}.`, {
    details: scopes.length === 1 ? { scope: scopes[0] } : { scopes },
  });
}

function named(scopes: readonly Scope[]): string {
  const quoted = scopes.map((scope) => `"${scope}"`).join(', ');
  return scopes.length === 1 ? `the scope ${quoted}` : `one of the scopes ${quoted}`;
}

function whyNot({ roles }: Principal, scopes: readonly Scope[]): string {
  if (scopes.some((scope) => hasScope({ roles }, scope))) return 'the key is restricted to other scopes';
  return `the roles ${roles.join(', ') || '(none)'} do not have ${scopes.length === 1 ? 'it' : 'one'}`;
}
