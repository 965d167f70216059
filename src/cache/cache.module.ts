import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { cacheConfig, databaseConfig, securityConfig } from '../config/namespaces/index.js';
import { chooseCache, OWN_CACHE } from './cache.factory.js';
import { Cache } from './cache.js';

/** Provides the `Cache`; `null` if none is configured: models then have no cache, and tools one of their process. */
@Module({
  providers: [
    {
      provide: Cache,
      useFactory: chooseCache,
      inject: [cacheConfig.KEY, databaseConfig.KEY, securityConfig.KEY, { token: OWN_CACHE, optional: true }],
    },
  ],
  exports: [Cache],
})
export class CacheModule implements OnApplicationShutdown {
  constructor(@Inject(Cache) private readonly cache: Cache | null) {}

  async onApplicationShutdown(): Promise<void> {
    await this.cache?.close();
  }
}
