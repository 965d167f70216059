import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessGuard } from './access.guard.js';

/** Puts the guard in front of every route. It needs `PrincipalModule` in the application. */
@Module({ providers: [{ provide: APP_GUARD, useClass: AccessGuard }] })
export class SecurityModule {}
