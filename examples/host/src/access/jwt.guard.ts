import { CanActivate, ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { JwtService } from '@nestjs/jwt';
import { IS_PUBLIC } from './public.decorator.js';
import type { Reader, ReaderRequest } from './reader.js';

/** Requires a token for every route of the application. It knows nothing about Jackdaw. */
@Injectable()
export class JwtGuard implements CanActivate {
  constructor(
    private readonly jwt: JwtService,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()])) return true;
    const request = context.switchToHttp().getRequest<ReaderRequest>();
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (!token) throw new UnauthorizedException('Send the token of POST /login.');
    try {
      const { name, isStaff } = await this.jwt.verifyAsync<Reader>(token);
      request.reader = { name, isStaff };
      return true;
    } catch {
      throw new UnauthorizedException('The token is invalid or has expired.');
    }
  }
}
