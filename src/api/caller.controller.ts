import { Controller, Get, Header } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires, SCOPES, scopesOf } from '../security/index.js';
import { CallerDto } from './caller.dto.js';

@Controller('me')
export class CallerController {
  /** The caller: its id, tenant, roles and scopes. */
  @Get()
  @Header('cache-control', 'no-store')
  @Requires(...SCOPES)
  get(@CurrentPrincipal() principal: Principal): CallerDto {
    const { id, tenant, roles } = principal;
    return { id, tenant, roles: [...roles], scopes: [...scopesOf(principal)] };
  }
}
