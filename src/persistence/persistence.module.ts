import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Log } from '../errors/index.js';
import { databaseConfig, type DatabaseConfig } from '../config/namespaces/index.js';
import { isDoneWithin, keepProcess, steadyNow } from '../kernel/index.js';
import { Database } from './database.js';
import { NotificationChannel, type PersistenceOptions, type UsedPersistence } from './persistence.types.js';
import { sharePersistence } from './shared-persistence.registry.js';

const OPEN_PERSISTENCE = Symbol('OPEN_PERSISTENCE');

/** A server or an agent reports a late stop itself; the database of a host application is abandoned this much later, in ms. */
const AFTER_LIMIT_MS = 500;
/** Least time to close the connections, in ms. */
const CLOSE_MS = 1_000;

/** Owns the connection: opens it before other providers use it, and closes it after all of them. */
@Module({})
export class PersistenceModule implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private closed: Promise<void> | undefined;
  private endHold = (): void => undefined;
  private stopsBy = 0;
  private readonly logger = new Log(PersistenceModule.name);

  constructor(
    @Inject(OPEN_PERSISTENCE) private readonly opened: UsedPersistence,
    @Inject(databaseConfig.KEY) private readonly config: DatabaseConfig,
  ) {}

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
          useFactory: ({ database }: UsedPersistence) => database,
          inject: [OPEN_PERSISTENCE],
        },
        {
          // `null` if the database has no notifications: a silent channel would let a cluster start that cannot work.
          provide: NotificationChannel,
          useFactory: ({ notifications }: UsedPersistence) => notifications,
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

  onApplicationBootstrap(): void {
    if (this.config.keepsProcess) this.endHold = keepProcess();
  }

  /** Idle connections do not keep the process alive, so the close must. Other hooks wait for the calls in flight. */
  onModuleDestroy(): void {
    this.opened.startStop?.();
    const limitMs = this.config.stopLimitMs + AFTER_LIMIT_MS;
    this.stopsBy = steadyNow() + limitMs;
    // Other applications of the process may use a database that is not a cluster's.
    if (this.config.isShared) this.opened.database.endCallsIn(limitMs);
    const endFormer = this.endHold;
    if (!this.closed) this.endHold = keepProcess();
    endFormer();
  }

  /** Closes once; an application may be closed twice. */
  onApplicationShutdown(): Promise<void> {
    this.closed ??= this.closeInTime().finally(() => this.endHold());
    return this.closed;
  }

  /** The connections to a silent server are abandoned. */
  private async closeInTime(): Promise<void> {
    const closed = this.opened.close();
    if (!(await isDoneWithin(Math.max(CLOSE_MS, this.stopsBy - steadyNow()), closed)))
      return this.logger.warn('The database did not answer during the stop; its connections are abandoned');
    await closed;
  }
}
