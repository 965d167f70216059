import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppOptions } from '../../src/app.module.js';
import { createApp } from '../../src/server/bootstrap.js';
import { loadConfig, type EnvRecord } from '../../src/config/index.js';
import type { FakeLlm } from './fake-llm.js';
import { JackdawClient } from './jackdaw-client.js';
import { RUN_QUEUE_WAIT_MS } from './process.js';

export type { Answer } from './jackdaw-client.js';

export interface StartOptions {
  /** Default: the offline model. */
  readonly llm?: FakeLlm;
  /** Overrides the defaults of these tests; the environment of the process is ignored. */
  readonly env?: EnvRecord;
  readonly tools?: AppOptions['tools'];
  readonly options?: AppOptions;
  /** The data folder to start on; default: a new one, which `stop` removes. */
  readonly dataDir?: string;
}

/** A server that runs in this process, and its client. */
export class Jackdaw extends JackdawClient {
  constructor(
    readonly app: NestFastifyApplication,
    readonly url: string,
    readonly dataDir: string,
    /** The lines of the log, parsed. */
    readonly log: readonly Record<string, unknown>[],
    private readonly isOwnFolder: boolean,
  ) {
    super();
  }

  async stop(): Promise<void> {
    await this.app.close();
    if (this.isOwnFolder) rmSync(this.dataDir, { recursive: true });
  }
}

/** Boots the whole application on a free port. */
export async function startJackdaw({ llm, env, tools, options, dataDir }: StartOptions = {}): Promise<Jackdaw> {
  const folder = dataDir ?? newFolder();
  const log: Record<string, unknown>[] = [];
  const { config } = loadConfig({
    env: {
      PORT: '0',
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      SHUTDOWN_TIMEOUT_MS: '0',
      RUN_QUEUE_WAIT_MS,
      ...(llm?.env ?? { LLM_PROVIDER: 'offline' }),
      ...env,
    },
  });
  const app = await createApp({
    config,
    ...(tools && { tools }),
    logStream: { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) },
    ...options,
  });
  await app.listen(config.server.port, config.server.host);
  return new Jackdaw(app, await app.getUrl(), folder, log, dataDir === undefined);
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'jackdaw-test-'));
}

/** A promise that a test resolves. */
export function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
