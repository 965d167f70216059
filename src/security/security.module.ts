import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeyGuard } from './api-key.guard.js';
import { PrincipalModule } from './principal.module.js';

/** Puts the API key guard in front of every route. */
@Module({
  imports: [PrincipalModule],
  providers: [{ provide: APP_GUARD, useClass: ApiKeyGuard }],
})
export class SecurityModule {}
