import type { INestApplicationContext } from '@nestjs/common';
import { type ClientTarget, processVariables, readClientTarget } from '../config/index.js';
import { JackdawClient } from '../http-client/index.js';
import type { ChatModel } from '../llm/chat/index.js';
import type { LocalServer } from '../server/index.js';
import { CliError } from './cli.error.js';

/** A server for a command. */
export interface Connection {
  readonly client: JackdawClient;
  /** Whether the server is inside of this process: a run needs this process. */
  readonly isLocal: boolean;
  /** Checks exported runs against the application inside of this process; absent for another server. */
  readonly replay?: LocalServer['replay'];
  /** The application of a local server. */
  readonly app?: INestApplicationContext;
  /** A resource as it was sent, such as `/docs/json`. */
  read(path: string): Promise<Response>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Whether the command executes runs. */
  readonly executesRuns: boolean;
  /** Whether the log of a local server is shown. */
  readonly isVerbose: boolean;
  /** The model of a local server, in place of its own. */
  readonly chatModel?: ChatModel;
  /** Variables of a local server that take precedence over the environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

const LOCAL_URL = 'http://localhost';

/** @throws CliError, AppError `CONFIG_INVALID`, and `DATABASE_LOCKED` with the remedy for the command line */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const target = readClientTarget();
  return target.url === undefined ? local(target, options) : remote(target.url, target);
}

function remote(url: string, { key }: ClientTarget): Connection {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new CliError('CONFIG_INVALID', `JACKDAW_URL: "${url}" is no URL of a server, such as http://localhost:3000.`);
  }
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return {
    client: new JackdawClient({ baseUrl: url, fetch: named(url), ...(key !== undefined && { apiKey: key }) }),
    isLocal: false,
    read: (path) => fetch(`${url.replace(/\/+$/, '')}${path}`, { headers }),
    close: () => Promise.resolve(),
  };
}

/** A `fetch` whose failure names the server. */
function named(url: string): typeof fetch {
  return (input, init) =>
    fetch(input, init).catch((cause: unknown) => {
      init?.signal?.throwIfAborted();
      throw new Error(`no server answers at ${url}, which JACKDAW_URL names`, { cause });
    });
}

/** Starts the server of the folder inside of this process. @throws as `connect` */
export async function openLocal(options: ConnectionOptions): Promise<Connection> {
  return local(readClientTarget(), options);
}

async function local(
  { key }: ClientTarget,
  { executesRuns, isVerbose, chatModel, variables }: ConnectionOptions,
): Promise<Connection> {
  const config = {
    LOG_LEVEL: isVerbose ? 'info' : 'error',
    HTTP_PREFIX: '',
    HOST: '127.0.0.1',
    CONSOLE: 'off',
    DOCS_ENABLED: 'true',
    ...variables,
  };
  const { openLocalServer } = await import('../server/index.js');
  const server = await openLocalServer({ config, executesRuns, ...(chatModel && { chatModel }) }).catch(
    (error: unknown) => {
      throw withRemedy(error);
    },
  );
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return {
    client: new JackdawClient({ baseUrl: LOCAL_URL, fetch: server.fetch, ...(key !== undefined && { apiKey: key }) }),
    isLocal: true,
    replay: (exported, replayOptions) => server.replay(exported, replayOptions),
    app: server.app,
    read: (path) => server.fetch(`${LOCAL_URL}${path}`, { headers }),
    close: () => server.close(),
  };
}

function withRemedy(error: unknown): unknown {
  if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'DATABASE_LOCKED') return error;
  const port = processVariables()['PORT'] ?? '3000';
  return new CliError(
    'DATABASE_LOCKED',
    `${error.message}\nIf it is a server, let the command line call it: JACKDAW_URL=http://localhost:${port} (and JACKDAW_KEY, if it has API keys).`,
  );
}
