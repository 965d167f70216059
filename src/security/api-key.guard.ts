import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError, type Principal } from '../common/index.js';
import { isLoopback } from '../config/index.js';
import { hostNameFrom, keyFrom } from './api-key.parser.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import type { PrincipalRequest } from './principal-request.types.js';
import { IS_PUBLIC } from './public.decorator.js';

const LOCAL: Principal = Object.freeze({ id: 'local', tenant: 'default', roles: Object.freeze(['admin']) });

/**
 * Gives every HTTP request its principal, or refuses it. Other contexts (a tool call, above all) already have the
 * principal of their run and pass untouched.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeyRegistry,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType<string>() !== 'http') return true;
    const request = context.switchToHttp().getRequest<PrincipalRequest>();
    if (this.keys.isEmpty) refuseForeignHost(request);
    if (this.reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, [context.getHandler(), context.getClass()])) {
      return true;
    }
    request.principal = this.keys.isEmpty ? LOCAL : this.authenticate(request);
    return true;
  }

  private authenticate({ headers }: PrincipalRequest): Principal {
    const key = keyFrom(headers);
    if (key === undefined) {
      throw new AppError(
        'UNAUTHENTICATED',
        'No API key: send it as `Authorization: Bearer <key>` or `X-API-Key: <key>`.',
      );
    }
    const principal = this.keys.find(key);
    if (principal) return principal;
    throw new AppError('UNAUTHENTICATED', 'This API key is not known here: check it, or add its entry to API_KEYS.');
  }
}

/** A page of a foreign site can point its own name at 127.0.0.1; its requests then bear that name as host. */
function refuseForeignHost({ headers }: PrincipalRequest): void {
  const host = hostNameFrom(headers);
  if (host !== undefined && isLoopback(host)) return;
  throw new AppError(
    'FORBIDDEN',
    'Without API_KEYS only this machine is served, as localhost or 127.0.0.1 (against DNS rebinding); the Host header of this request names another. Set API_KEYS to serve others.',
  );
}
