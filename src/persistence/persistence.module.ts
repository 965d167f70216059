import {
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { dirname } from 'node:path';
import { AppConfig } from '../config/index.js';
import { openDataSource, sqliteFile, type OpenDataSource, type PersistenceOptions } from './data-source.factory.js';
import { Database } from './database.js';
import { measureFsync } from './fsync.indicator.js';
import { SqliteDatabase } from './sqlite-database.js';
import type { SqliteHandle } from './sqlite-handle.types.js';

const OPEN_DATA_SOURCE = Symbol('OPEN_DATA_SOURCE');
const SLOW_FSYNC_MS = 2;

/** Owns the connection: open before any other provider asks for it, closed after all of them are done. */
@Module({})
export class PersistenceModule implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(PersistenceModule.name);

  constructor(
    @Inject(OPEN_DATA_SOURCE) private readonly opened: OpenDataSource,
    private readonly database: Database,
    private readonly config: AppConfig,
  ) {}

  static forRoot(options: PersistenceOptions): DynamicModule {
    return {
      module: PersistenceModule,
      global: true,
      providers: [
        {
          provide: OPEN_DATA_SOURCE,
          useFactory: (config: AppConfig) => openDataSource(config, options),
          inject: [AppConfig],
        },
        {
          provide: Database,
          useFactory: ({ dataSource }: OpenDataSource) =>
            new SqliteDatabase(
              (dataSource.driver as unknown as { databaseConnection: SqliteHandle }).databaseConnection,
            ),
          inject: [OPEN_DATA_SOURCE],
        },
      ],
      // TypeORM's own token stays free for the data source of an application around us.
      exports: [Database],
    };
  }

  onModuleInit(): void {
    const file = sqliteFile(this.config);
    if (file === ':memory:') return;
    const ms = measureFsync(dirname(file));
    if (ms > SLOW_FSYNC_MS) {
      this.logger.warn(
        `The disk of ${file} takes ${ms.toFixed(1)} ms to make a write durable; every step of a run waits for it.`,
      );
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
    await this.opened.dataSource.destroy();
    this.opened.unlock();
  }
}
