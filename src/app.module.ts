import { Module, type DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { ApiModule } from './api/index.js';
import { AppConfig } from './config/index.js';
import { HealthModule } from './health/index.js';
import { JackdawModule, type JackdawOptions } from './jackdaw.module.js';
import { logOptions } from './log-options.factory.js';
import { SecurityModule } from './security/index.js';

/** The server: Jackdaw with its HTTP side. */
@Module({})
export class AppModule {
  static forRoot(options: JackdawOptions = {}): DynamicModule {
    return {
      module: AppModule,
      imports: [
        LoggerModule.forRootAsync({ useFactory: logOptions, inject: [AppConfig] }),
        JackdawModule.forRoot(options),
        SecurityModule,
        ApiModule,
        HealthModule,
      ],
    };
  }
}
