import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppOptions } from '../../src/app.module.js';
import { createApp } from '../../src/bootstrap.js';
import { loadConfig, type EnvRecord } from '../../src/config/index.js';
import { EventStream } from './event-stream.js';
import type { FakeLlm } from './fake-llm.js';

export interface StartOptions {
  /** Without one the offline model answers. */
  readonly llm?: FakeLlm;
  /** Over the defaults of these tests; the environment of the process plays no part. */
  readonly env?: EnvRecord;
  readonly tools?: AppOptions['tools'];
  readonly options?: AppOptions;
  /** A data folder to start on; without it a fresh one, which `stop` removes. */
  readonly dataDir?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; whatever shape a test expects of it, it checks. */
  readonly body: Record<string, never>;
}

type Headings = Readonly<Record<string, string>>;

const JSON_TYPE: Headings = { 'content-type': 'application/json' };

/** A running server, and its client. */
export class Jackdaw {
  constructor(
    readonly app: NestFastifyApplication,
    readonly url: string,
    readonly dataDir: string,
    /** The lines of the log, parsed. */
    readonly log: readonly Record<string, unknown>[],
    private readonly isOwnFolder: boolean,
  ) {}

  chat(body: unknown, headers: Headings = {}): Promise<Answer> {
    return this.post('/api/agent/chat', body, headers);
  }

  /** Posts a body as JSON; a text goes out as it is. */
  post(path: string, body?: unknown, headers: Headings = {}): Promise<Answer> {
    if (body === undefined) return this.send(path, { method: 'POST', headers });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.send(path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: text });
  }

  get(path: string, headers: Headings = {}): Promise<Answer> {
    return this.send(path, { headers });
  }

  async send(path: string, init: RequestInit): Promise<Answer> {
    const reply = await fetch(`${this.url}${path}`, init);
    const text = await reply.text();
    const isJson = reply.headers.get('content-type')?.includes('json') ?? false;
    const body = (isJson && text !== '' ? JSON.parse(text) : {}) as Answer['body'];
    return { status: reply.status, headers: reply.headers, text, body };
  }

  /** A streamed chat. */
  stream(body: unknown, headers: Headings = {}): Promise<EventStream> {
    return EventStream.open(`${this.url}/api/agent/chat/stream`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body,
    });
  }

  /** A run's events after a place. */
  follow(runId: string, after?: number | string, headers: Headings = {}): Promise<EventStream> {
    const place: Headings = after === undefined ? {} : { 'last-event-id': String(after) };
    return EventStream.open(`${this.url}/api/runs/${runId}/events`, { headers: { ...place, ...headers } });
  }

  /** The messages of a session, without what differs from run to run. */
  async messages(sessionId: string, headers: Headings = {}): Promise<Record<string, unknown>[]> {
    const { body } = await this.get(`/api/sessions/${sessionId}/messages`, headers);
    const messages = body['messages'] as unknown as Record<string, unknown>[];
    return messages.map(({ created_at: _at, run_id: _run, ...message }) => message);
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
    env: { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', SHUTDOWN_TIMEOUT_MS: '0', ...modelEnv(llm), ...env },
  });
  const app = await createApp({
    config,
    ...(tools && { tools }),
    logStream: { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) },
    ...options,
  });
  await app.listen(config.http.port, config.http.host);
  return new Jackdaw(app, await app.getUrl(), folder, log, dataDir === undefined);
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'jackdaw-test-'));
}

function modelEnv(llm: FakeLlm | undefined): EnvRecord {
  if (!llm) return { LLM_PROVIDER: 'offline' };
  return { LLM_PROVIDER: 'openai', OPENAI_API_KEY: 'test', OPENAI_BASE_URL: llm.url };
}

/** Something to wait for that a test opens. */
export function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
