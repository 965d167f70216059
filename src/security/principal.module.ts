import { Module } from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { ApiKeyPrincipalDirectory } from './api-key-principal-directory.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import { PrincipalDirectory } from './principal-directory.js';

/** Knows who there is, with or without HTTP. */
@Module({
  providers: [
    {
      provide: ApiKeyRegistry,
      useFactory: ({ auth }: AppConfig) => new ApiKeyRegistry(auth.apiKeys),
      inject: [AppConfig],
    },
    { provide: PrincipalDirectory, useClass: ApiKeyPrincipalDirectory },
  ],
  exports: [ApiKeyRegistry, PrincipalDirectory],
})
export class PrincipalModule {}
