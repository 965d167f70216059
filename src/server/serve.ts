import type { ModuleMetadata } from '@nestjs/common';
import { workersToStart } from '../config/index.js';
import { serverConfig, type ServerConfig } from '../config/namespaces/index.js';
import { loadPackage } from '../errors/index.js';
import type { JackdawOptions } from '../jackdaw.module.js';
import { assertKnownOptions } from '../known-options.policy.js';

/** Packages that only the server imports: optional peers of ours. */
export const SERVER_PACKAGES = [
  '@nestjs/platform-fastify',
  '@nestjs/terminus',
  'fastify',
  'nestjs-pino',
  'pino',
  'pino-http',
];

/** A running server. */
export interface Server {
  /** URL of the server, such as `http://127.0.0.1:3000`, with `HTTP_PREFIX`. */
  readonly url: string;
  /**
   * Stops as after a signal, but without `SHUTDOWN_GRACE_MS`: waits for executing runs; the others resume at the next start.
   */
  close(): Promise<void>;
}

export interface ServeOptions extends JackdawOptions {
  /**
   * Modules of the application: with tools, `JackdawModule.forFeature`, and controllers. Their routes have the prefix
   * `/api`, and deny access without `Requires` or `Public`.
   */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
}

/**
 * Serves the REST API until `close` or a signal. HTTP, logging and OpenAPI are loaded only here.
 * @throws AppError `CONFIG_INVALID`, `AGENT_INVALID`, `TOOL_DUPLICATE`, `DATABASE_LOCKED`
 */
export async function serve(options: ServeOptions = {}): Promise<Server> {
  assertKnownOptions('serve', options);
  const workers = workersToStart(variablesIn(options), options.files);
  if (workers > 1) {
    const { supervise } = await import('./supervisor/supervise.js');
    return supervise(workers, options.logger);
  }
  const bootstrap = await loadPackage(SERVER_PACKAGES, 'serve()', () => import('./bootstrap.js'));
  const app = await bootstrap.serve(options);
  const { prefix } = app.get<ServerConfig>(serverConfig.KEY);
  return { url: `${await app.getUrl()}${prefix}`, close: () => app.close() };
}

/** The variables of a configuration that is not loaded yet. */
function variablesIn({ config = {} }: ServeOptions): Readonly<Record<string, string | undefined>> {
  return 'server' in config || 'config' in config ? {} : config;
}
