import { checked, choice, flag, integer, originList, pattern, proxyTrust } from '../env-value.schema.js';
import { type ConfigContext, namespace, type NamespaceConfig } from '../namespace.factory.js';
import { MOST_WORKERS, parseWorkers, workerNumber, workersIn } from '../worker.loader.js';
import { isCluster } from './database.config.js';
import { securityConfig } from './security.config.js';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The level of the log, and of the contexts that have one of their own. */
export interface LogRules {
  readonly level: LogLevel;
  readonly contexts: Readonly<Record<string, LogLevel>>;
}

const RULE = /^(?:([\w.:-]+)=)?([a-z]+)$/;

/** Parses `info,RunExecutor=debug,Http=warn`; the level itself is `info` if it is left out. @returns undefined for an invalid text */
export function parseLogRules(text: string): LogRules | undefined {
  const contexts: Record<string, LogLevel> = {};
  let level: LogLevel | undefined;
  for (const part of text.split(',')) {
    const [, context, name] = RULE.exec(part.trim()) ?? [];
    const found = LOG_LEVELS.find((one) => one === name);
    const isTwice = context === undefined ? level !== undefined : Object.hasOwn(contexts, context);
    if (!found || isTwice) return undefined;
    if (context === undefined) level = found;
    else contexts[context] = found;
  }
  return { level: level ?? 'info', contexts };
}

/** The HTTP server and its log. */
export const serverConfig = namespace(
  'jackdaw.server',
  'Server',
  {
    PORT: integer(0, 65_535).default(3000).describe('TCP port of the server; 0 selects a free one'),
    HOST: pattern(/^\S{1,255}$/, 'a host name or an address')
      .default('127.0.0.1')
      .describe('Address to listen on; an address beyond loopback requires `API_KEYS`'),
    WORKERS: checked(parseWorkers, `an integer from 1 to ${MOST_WORKERS}, or auto`)
      .default(1)
      .describe(
        'Processes that share the port, for all cores of a machine: a number, or `auto` for one per available core. More than one requires a database that several processes can share (docs/deployment.md)',
      ),
    HEALTH_PORT: integer(0, 65_535)
      .optional()
      .describe(
        'TCP port that serves `GET /api/health/live` and `/api/health/ready` in addition, from a thread of its own that answers at full load, too; 0 selects a free one',
      ),
    HEALTH_HOST: pattern(/^\S{1,255}$/, 'a host name or an address')
      .optional()
      .describe('Address that `HEALTH_PORT` listens on; by default `HOST`'),
    CORS_ORIGINS: originList()
      .optional()
      .describe(
        'Origins of web pages that may call the API from a browser (CORS), comma-separated, such as `https://app.example`',
      ),
    TRUST_PROXY: proxyTrust()
      .optional()
      .describe(
        'Proxies whose `X-Forwarded-*` headers are believed: their addresses, ranges or `loopback`, comma-separated, or their number; requires `API_KEYS`',
      ),
    HTTP_PREFIX: pattern(/^(?:\/[\w.~-]+)+$/, 'a path such as /jackdaw, without a slash at its end')
      .optional()
      .describe(
        'Path under which all routes are served, such as `/jackdaw`, for a proxy that does not remove it; other paths answer 404',
      ),
    HTTP_KEEP_ALIVE_MS: integer(1, 3_600_000, 'ms')
      .default(72_000)
      .describe(
        'Time after which an idle connection of a client is closed, in ms; longer than the idle time of the load balancer',
      ),
    HTTP_BODY_LIMIT_BYTES: integer(1024, 67_108_864, 'bytes')
      .default(1_048_576)
      .describe(
        'Maximum size of a request body, in bytes; images of a chat, imports of sessions and reports of evals have limits of their own',
      ),
    STREAM_HEARTBEAT_SECONDS: integer(1, 300, 's')
      .default(15)
      .describe(
        'Interval of heartbeats on an idle event stream, in seconds; shorter than the idle time of proxies between',
      ),
    REQUEST_TIMEOUT_MS: integer(100, 3_600_000, 'ms')
      .default(120_000)
      .describe(
        'Time in which the body of a request must arrive, in ms; a body that stalls for 15 s is refused earlier',
      ),
    SHUTDOWN_GRACE_MS: integer(0, 9000, 'ms')
      .optional()
      .describe(
        'Time after SIGTERM, SIGINT or SIGHUP in which the listener still accepts connections, in ms: `health/ready` answers 503, new runs and sessions are rejected with 503. Part of `SHUTDOWN_TIMEOUT_MS`. By default 3000 with `API_KEYS` or in a cluster, otherwise 0. A worker of pm2 or node:cluster, except those of `WORKERS`, accepts no new connection, and serves the requests on those that it has for at most this time, before `SHUTDOWN_TIMEOUT_MS`',
      ),
    LOG_LEVEL: checked((text) => (parseLogRules(text) ? text : undefined), `one of ${LOG_LEVELS.join(', ')}`)
      .default('info')
      .describe(
        'Lowest level that is logged; levels of contexts may follow it, as in `info,RunExecutor=debug,Http=silent`',
      ),
    HTTP_LOG: choice(['on', 'off', 'errors'])
      .default('errors')
      .describe(
        'Log of requests, one line for each: `on`; `errors`: those that failed with a status of 500 or above, the others at the level `debug`; `off`',
      ),
    LOG_FORMAT: choice(['auto', 'json', 'text'])
      .default('auto')
      .describe('Format of the log: `json`, one object a line; `text`, for people; `auto`: `text` on a terminal'),
    DOCS_ENABLED: flag()
      .optional()
      .describe(
        'Whether `/docs` serves the OpenAPI document without authentication; by default only without `API_KEYS`',
      ),
    CONSOLE: choice(['on', 'off'])
      .default('on')
      .describe('Whether `/console` serves the web console, with a login by API key: `on` or `off`'),
  },
  (env, { hasAuthenticator, isHost, values }) => ({
    port: env.PORT,
    host: env.HOST,
    ...workersOf(env.WORKERS, isHost),
    /** The own port of the health checks. */
    healthPort: env.HEALTH_PORT,
    healthHost: env.HEALTH_HOST ?? env.HOST,
    corsOrigins: env.CORS_ORIGINS ?? [],
    /** Addresses, or the number of proxies; `false` without a proxy. */
    trustProxy: env.TRUST_PROXY ?? false,
    /** Path before all routes, such as `/jackdaw`; empty without one. */
    prefix: env.HTTP_PREFIX ?? '',
    keepAliveMs: env.HTTP_KEEP_ALIVE_MS,
    bodyLimitBytes: env.HTTP_BODY_LIMIT_BYTES,
    heartbeatSeconds: env.STREAM_HEARTBEAT_SECONDS,
    requestTimeoutMs: env.REQUEST_TIMEOUT_MS,
    shutdownGraceMs: graceMs(env, { hasAuthenticator, isHost, values }),
    /** Whether other machines can reach the server. */
    isReachable: !isLoopback(env.HOST) || Boolean(env.TRUST_PROXY),
    logLevel: parseLogRules(env.LOG_LEVEL)!.level,
    /** Levels of contexts that have one of their own. */
    contextLevels: parseLogRules(env.LOG_LEVEL)!.contexts,
    httpLog: env.HTTP_LOG,
    logFormat: env.LOG_FORMAT === 'auto' ? (process.stdout.isTTY ? 'text' : 'json') : env.LOG_FORMAT,
    // The OpenAPI documents are served without authentication.
    hasConsole: env.CONSOLE === 'on',
    hasDocs: env.DOCS_ENABLED ?? !(env.API_KEYS || hasAuthenticator),
  }),
  securityConfig,
);
export type ServerConfig = NamespaceConfig<typeof serverConfig>;

/** `workers`: the number of processes that share the port; `worker`: the number of this one, in a worker of the supervisor. */
function workersOf(workers: number | 'auto', isHost: boolean): { readonly workers: number; readonly worker?: number } {
  const worker = isHost ? undefined : workerNumber();
  return worker === undefined ? { workers: 1 } : { workers: workersIn(workers), worker };
}

/** Time for load balancers to stop sending requests, in ms. */
const GRACE_MS = 3_000;

function graceMs(
  { SHUTDOWN_GRACE_MS, API_KEYS }: { readonly SHUTDOWN_GRACE_MS?: number | undefined; readonly API_KEYS?: unknown },
  { hasAuthenticator, isHost, values }: Pick<ConfigContext, 'hasAuthenticator' | 'isHost' | 'values'>,
): number {
  // The listener of a host application is its own.
  if (isHost) return 0;
  const isAwaited = API_KEYS !== undefined || hasAuthenticator || isCluster(values);
  return SHUTDOWN_GRACE_MS ?? (isAwaited ? Math.min(GRACE_MS, Number(values['SHUTDOWN_TIMEOUT_MS'])) : 0);
}

/** Whether a host name or address can only be reached from this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
