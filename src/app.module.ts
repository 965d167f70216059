import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import { ApiModule } from './api/index.js';
import { ConfiguredSecrets, loadGiven, type LoadedConfig } from './config/index.js';
import { serverConfig, type ServerConfig } from './config/namespaces/index.js';
import { ConsoleModule } from './console/index.js';
import { HealthModule } from './health/index.js';
import { JackdawModule, type JackdawOptions } from './jackdaw.module.js';
import { createRedaction, createTextLog, createTurnLog, logOptions } from './logging/index.js';
import { McpEndpointModule } from './mcp-server/index.js';
import { ClientApiModule } from './client-api/index.js';
import { PrincipalModule, SecurityModule } from './security/index.js';
import { SecurityPolicies } from './tool-policy/index.js';

export interface AppOptions extends JackdawOptions {
  /** Destination of the log; by default standard output. */
  readonly logStream?: DestinationStream;
  /** Modules of the application. */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
}

/** The configuration of a server: its variables have the prefix or not, and it reads files by default. */
export function loadServer({ config = {}, authenticator, files = true }: AppOptions): LoadedConfig {
  return loadGiven(config, { hasAuthenticator: authenticator !== undefined, hasFiles: files });
}

/** The server: Jackdaw with HTTP. */
@Module({})
export class AppModule {
  static forRoot({ logStream, imports = [], ...options }: AppOptions = {}): DynamicModule {
    const loaded = loadServer(options);
    const { isEnabled, hasA2a } = loaded.config.compatibleApi;
    return {
      module: AppModule,
      imports: [
        LoggerModule.forRootAsync({
          useFactory: async (config: ServerConfig, policies: SecurityPolicies, secrets: ConfiguredSecrets) => {
            const lines = logStream ?? createTurnLog();
            const stream = config.logFormat === 'text' ? await createTextLog(lines) : lines;
            return logOptions(config, stream, policies, createRedaction(secrets));
          },
          inject: [serverConfig.KEY, SecurityPolicies, ConfiguredSecrets],
        }),
        JackdawModule.forRoot({ ...options, config: loaded }),
        ...(options.authenticator ? [] : [PrincipalModule.forRoot()]),
        SecurityModule,
        ApiModule,
        McpEndpointModule,
        HealthModule,
        ...(isEnabled || hasA2a ? [ClientApiModule.forRoot(loaded.config.compatibleApi)] : []),
        ...(loaded.config.server.hasConsole ? [ConsoleModule] : []),
        ...imports,
      ],
    };
  }
}
