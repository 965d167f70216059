import { Module, type DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import { ApiModule } from './api/index.js';
import { AppConfig } from './config/index.js';
import { HealthModule } from './health/index.js';
import { JackdawModule, type JackdawOptions } from './jackdaw.module.js';
import { logOptions } from './log-options.factory.js';
import { McpServerModule } from './mcp-server/index.js';
import { PrincipalModule, SecurityModule } from './security/index.js';
import { SecurityPolicies } from './tool/index.js';
import { createTurnLog } from './turn-log.stream.js';

export interface AppOptions extends JackdawOptions {
  /** Destination of the log; by default standard output. */
  readonly logStream?: DestinationStream;
}

/** The server: Jackdaw with HTTP. */
@Module({})
export class AppModule {
  static forRoot({ logStream, ...options }: AppOptions = {}): DynamicModule {
    return {
      module: AppModule,
      imports: [
        LoggerModule.forRootAsync({
          useFactory: (config: AppConfig, policies: SecurityPolicies) =>
            logOptions(config, logStream ?? createTurnLog(), policies),
          inject: [AppConfig, SecurityPolicies],
        }),
        JackdawModule.forRoot(options),
        ...(options.authenticator ? [] : [PrincipalModule.forRoot()]),
        SecurityModule,
        ApiModule,
        McpServerModule,
        HealthModule,
      ],
    };
  }
}
