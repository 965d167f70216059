import { type CanActivate, createParamDecorator, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type McpEndpointConfig, mcpServerConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { HttpOnly } from '../kernel/nest/index.js';
import { KeyUseRegistry, RequestAuthenticator } from './request-authenticator.service.js';
import { assertLocal } from './caller-origin.policy.js';
import { IS_PUBLIC, type PrincipalRequest, REQUIRED_SCOPE, type Scope } from './authorization.js';

/** The principal of the current request. Public routes have none: the parameter then throws. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<PrincipalRequest>();
  if (principal) return principal;
  throw new AppError(
    'UNAUTHENTICATED',
    'This route needs a principal, and no guard has set one: it must not be public.',
  );
});

/**
 * Authenticates every HTTP request and checks the scope of its route; denies by default.
 * Other contexts (tool calls) already carry the principal of their run and pass unchanged.
 */
@HttpOnly()
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly authenticator: RequestAuthenticator,
    @Inject(KeyUseRegistry) private readonly use: Pick<KeyUseRegistry, 'isOpen'>,
    private readonly reflector: Reflector,
    @Inject(mcpServerConfig.KEY) private readonly config: McpEndpointConfig,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType<string>() !== 'http') return true;
    const request = context.switchToHttp().getRequest<PrincipalRequest>();
    if (this.metadata(IS_PUBLIC, context)) {
      if (this.use.isOpen) assertLocal(request, this.config.allowedOrigins);
      return true;
    }
    const scopes = this.metadata(REQUIRED_SCOPE, context) as readonly Scope[] | undefined;
    request.principal = await this.authenticator.admit(request, scopes ?? []);
    return true;
  }

  private metadata(key: string, context: ExecutionContext): unknown {
    return this.reflector.getAllAndOverride<unknown>(key, [context.getHandler(), context.getClass()]);
  }
}
