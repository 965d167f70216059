import { Global, Module } from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { ApiKeyPrincipalDirectory } from './api-key-principal-directory.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import { PrincipalDirectory } from './principal-directory.js';

/** Knows who there is: whose keys are configured. Global, so that runs of an application with keys find it. */
@Global()
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
