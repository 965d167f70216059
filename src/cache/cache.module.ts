import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { cacheConfig, databaseConfig } from '../config/index.js';
import { openCache } from './cache.factory.js';
import { Cache } from './cache.js';

/** Provides the `Cache`; `null` if none is configured: inject it with `@Optional()`. */
@Module({
  providers: [{ provide: Cache, useFactory: openCache, inject: [cacheConfig.KEY, databaseConfig.KEY] }],
  exports: [Cache],
})
export class CacheModule implements OnApplicationShutdown {
  constructor(@Inject(Cache) private readonly cache: Cache | null) {}

  async onApplicationShutdown(): Promise<void> {
    await this.cache?.close();
  }
}
