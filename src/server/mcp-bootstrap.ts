import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Logger } from 'nestjs-pino';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { AppModule, type AppOptions } from '../app.module.js';
import { BootLog } from '../logging/index.js';
import { AppError } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { mcpServerConfig, type McpEndpointConfig } from '../config/namespaces/index.js';
import { McpEndpoint } from '../mcp-server/index.js';
import { RunService } from '../run/index.js';
import { Authenticator } from '../security/index.js';
import { END_SIGNALS, onEndSignal } from './end-signal.js';
import { withToolFiles } from './tool-files.loader.js';
import { logUnhandledErrors } from './unhandled-errors.js';

/** Writes to standard error: standard output belongs to the protocol. */
class ErrorBootLog extends BootLog {
  protected override printMessages(...[messages, context, level]: Parameters<BootLog['printMessages']>): void {
    super.printMessages(messages, context, level, 'stderr');
  }
}

/**
 * Serves one MCP client until its input ends. Unfinished runs then resume at the next start, as after any stop.
 * @throws AppError `CONFIG_INVALID`, `DATABASE_LOCKED`; `UNAUTHENTICATED` if there are API keys and `MCP_STDIO_KEY` is
 *   not one of them
 */
export async function serveStdio(input: Readable, output: Writable, options: AppOptions = {}): Promise<void> {
  const app = await NestFactory.createApplicationContext(
    AppModule.forRoot({ logStream: process.stderr, ...(await withToolFiles(options)), recovery: 'manual' }),
    { logger: new ErrorBootLog(), bufferLogs: true, abortOnError: false },
  );
  const releases = [logUnhandledErrors(), onEndSignal(() => undefined)];
  try {
    app.useLogger(app.get(Logger));
    app.enableShutdownHooks(END_SIGNALS, { useProcessExit: true });
    const endpoint = app.get(McpEndpoint);
    const principal = await localPrincipal(app.get(Authenticator), app.get<McpEndpointConfig>(mcpServerConfig.KEY));
    const ended = once(input, 'end');
    // Before the protocol handles the end and cancels everything.
    input.prependOnceListener('end', () => endpoint.handOver());
    await endpoint.serveStdio(principal, input, output);
    await app.get(RunService, { strict: false }).recover();
    await ended;
  } finally {
    await app.close();
    for (const release of releases) release();
  }
}

/** The principal of `MCP_STDIO_KEY`, or the local user if the server has no keys. */
async function localPrincipal(authenticator: Authenticator, { apiKey }: McpEndpointConfig): Promise<Principal> {
  const headers = { host: 'localhost', ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) };
  const principal = await authenticator.authenticate({ method: 'POST', url: '/mcp', headers, ip: '127.0.0.1' });
  if (principal) return principal;
  const message = 'The server has API keys: set MCP_STDIO_KEY to one of them.';
  throw new AppError('UNAUTHENTICATED', message);
}
