import {
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { databaseConfig, type DatabaseConfig } from '../config/index.js';
import { Database } from './database.js';
import { NotificationChannel } from './notification-channel.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { sharePersistence } from './shared-persistence.registry.js';

const OPEN_PERSISTENCE = Symbol('OPEN_PERSISTENCE');

/** Owns the connection: opens it before other providers use it, and closes it after all of them. */
@Module({})
export class PersistenceModule implements OnModuleInit, OnApplicationShutdown {
  private closed: Promise<void> | undefined;
  private readonly logger = new Logger(PersistenceModule.name);

  constructor(@Inject(OPEN_PERSISTENCE) private readonly opened: OpenPersistence) {}

  static forRoot(options: PersistenceOptions): DynamicModule {
    return {
      module: PersistenceModule,
      global: true,
      providers: [
        {
          provide: OPEN_PERSISTENCE,
          useFactory: (config: DatabaseConfig) => sharePersistence(config, options),
          inject: [databaseConfig.KEY],
        },
        {
          provide: Database,
          useFactory: ({ database }: OpenPersistence) => database,
          inject: [OPEN_PERSISTENCE],
        },
        {
          // `null` if the database has no notifications: a silent channel would let a cluster start that cannot work.
          provide: NotificationChannel,
          useFactory: ({ notifications }: OpenPersistence) => notifications,
          inject: [OPEN_PERSISTENCE],
        },
      ],
      // TypeORM's own token remains available for the data source of a host application.
      exports: [Database, NotificationChannel],
    };
  }

  onModuleInit(): void {
    for (const warning of this.opened.warnings) this.logger.warn(warning);
  }

  /** Closes once; an application may be closed twice. */
  onApplicationShutdown(): Promise<void> {
    this.closed ??= this.opened.close();
    return this.closed;
  }
}
