import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AppConfig } from '../config/index.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { ApiKeyRegistry } from './api-key.registry.js';

/** Puts the API key guard in front of every route. */
@Module({
  providers: [
    {
      provide: ApiKeyRegistry,
      useFactory: ({ auth }: AppConfig) => new ApiKeyRegistry(auth.apiKeys),
      inject: [AppConfig],
    },
    { provide: APP_GUARD, useClass: ApiKeyGuard },
  ],
  exports: [ApiKeyRegistry],
})
export class SecurityModule {}
