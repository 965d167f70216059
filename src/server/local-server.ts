import type { INestApplicationContext } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Readable } from 'node:stream';
import { readConfig } from '../config/index.js';
import { databaseConfig, type DatabaseConfig } from '../config/namespaces/index.js';
import { loadPackage } from '../errors/index.js';
import type { ChatModel } from '../llm/chat/index.js';
import { RunService } from '../run/index.js';
import {
  parseExportedRun,
  type ReplayCheck,
  type ReplayCheckOptions,
  RunReplayCheckService,
} from '../run/replay/index.js';
import { SERVER_PACKAGES } from './serve.js';

/** A server inside of this process, without a listener. */
export interface LocalServer {
  /** Calls its routes; only the path of a URL counts. */
  readonly fetch: typeof fetch;
  /** Checks an exported run against this application. @throws AppError `VALIDATION_FAILED` for a text that is no export */
  replay(exported: string, options?: ReplayCheckOptions): Promise<ReplayCheck>;
  readonly app: INestApplicationContext;
  /** Waits for executing runs, as after a signal; the others resume at the next start of a server. */
  close(): Promise<void>;
}

export interface LocalServerOptions {
  /** Variables that take precedence over the environment. */
  readonly config: Readonly<Record<string, string>>;
  /** Whether the process takes runs of a shared database, as the other servers do. */
  readonly executesRuns: boolean;
  /** Replaces every provider. */
  readonly chatModel?: ChatModel;
}

/** Of this machine: a server without API keys admits it. */
const HEADERS = { host: 'localhost' };

/**
 * Starts the server of the working directory, without a listener, for clients in this process. It executes only the runs
 * that these start or decide. Logs go to standard error, and signals have no effect on it.
 * @throws AppError `DATABASE_LOCKED` at once while another process owns the database, `CONFIG_INVALID`
 */
export async function openLocalServer({ config, executesRuns, ...options }: LocalServerOptions): Promise<LocalServer> {
  const { createApp } = await loadPackage(SERVER_PACKAGES, 'The command line', () => import('./bootstrap.js'));
  const loaded = readConfig(config);
  const database = { ...loaded.config.database, whenLocked: 'fail' as const };
  const given = { ...loaded, config: { ...loaded.config, database } };
  const app = await createApp({ ...options, config: given, logStream: process.stderr }, false);
  try {
    await app.init();
    const { isShared } = app.get<DatabaseConfig>(databaseConfig.KEY);
    if (isShared && executesRuns) await app.get(RunService, { strict: false }).recover();
  } catch (error) {
    await app.close().catch(() => undefined);
    throw error;
  }
  return {
    fetch: fetchOf(app),
    app,
    replay: async (exported, replayOptions) =>
      app.get(RunReplayCheckService, { strict: false }).check(parseExportedRun(exported), replayOptions),
    close: () => app.close(),
  };
}

function fetchOf(app: NestFastifyApplication): typeof fetch {
  const fastify = app.getHttpAdapter().getInstance();
  return async (input, init = {}) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const { method = 'GET', headers, body, signal } = init;
    signal?.throwIfAborted();
    const response = await fastify.inject({
      method: method as 'GET',
      url: `${pathname}${search}`,
      headers: { ...Object.fromEntries(new Headers(headers)), ...HEADERS },
      ...(typeof body === 'string' && { payload: body }),
      ...(signal && { signal }),
      payloadAsStream: true,
    });
    const given = Object.entries(response.headers).flatMap(([name, value]) =>
      [value].flat().map((text): [string, string] => [name, String(text)]),
    );
    const { statusCode: status } = response;
    const stream = status === 204 ? null : (Readable.toWeb(response.stream()) as ReadableStream<Uint8Array>);
    return new Response(stream, { status, headers: given });
  };
}
