import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { KnownRequest } from './caller.guard.js';

/** Allows staff only; runs after `CallerGuard`. */
@Injectable()
export class StaffGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<KnownRequest>().caller?.roles.includes('admin') ?? false;
  }
}
