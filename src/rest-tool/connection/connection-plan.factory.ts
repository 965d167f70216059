import type { OutgoingOptions } from '../../security/egress/index.js';
import type { RestConnection, RestToolDeclaration } from '../rest-tool.types.js';
import { type TokenRule, tokenRules } from './held-token.factory.js';

/** State options that apply to a connection. The others concern business state, which a REST tool does not have. */
const STATE_OPTIONS: ReadonlySet<string> = new Set(['manager', 'ttlMs', 'maxHistory', 'cleanupAfterRun']);

/** Options that have an effect only with `keepAlive`. */
const KEEP_ALIVE_OPTIONS = ['keepAliveTimeoutMs', 'keepAliveIntervalMs', 'poolRecycleMs'] as const;

/** State and connection options of a declaration that would have no effect. */
function connectionProblems(declaration: RestToolDeclaration): string[] {
  const { stateful, connection } = declaration;
  if (connection !== undefined && !stateful) {
    return ['it has a connection but no state: add `"stateful": true`'];
  }
  return [
    ...stateProblems(stateful),
    ...(connection ? unusedOptions(connection) : []),
    ...repetitionProblems(declaration),
  ];
}

function stateProblems(stateful: RestToolDeclaration['stateful']): string[] {
  if (typeof stateful !== 'object' || stateful === null) return [];
  const idle = Object.keys(stateful).filter((key) => !STATE_OPTIONS.has(key));
  return idle.map(
    (key) => `its stateful.${key} has no effect: a REST tool stores a connection and has no business state`,
  );
}

function unusedOptions(connection: RestConnection): string[] {
  const { keepAlive = true, retry } = connection;
  const idle = keepAlive ? [] : KEEP_ALIVE_OPTIONS.filter((key) => connection[key] !== undefined);
  const problems = idle.map(
    (key) => `its connection.${key} has no effect, as keepAlive is false: connections are not reused`,
  );
  if (retry?.attempts === 1 && Object.keys(retry).length > 1) {
    problems.push('its connection.retry has attempts 1, so its other options have no effect: remove them');
  }
  return problems;
}

function repetitionProblems({ retries, timeoutMs, connection = {} }: RestToolDeclaration): string[] {
  const problems: string[] = [];
  if (retries !== undefined && connection.retry) {
    problems.push('it has retries and connection.retry: use one of them');
  }
  if (timeoutMs !== undefined && connection.timeoutMs !== undefined) {
    problems.push('it has timeoutMs and connection.timeoutMs, which are the same: use one of them');
  }
  return problems;
}

/** Connection settings that the calls of one tool session share. */
export interface ConnectionPlan {
  /** The same object for all calls of the tool. */
  readonly options: OutgoingOptions;
  readonly hasCookies: boolean;
  readonly tokens: readonly TokenRule[];
}

/**
 * Reads a declaration's connection settings; `undefined` for a stateless tool. Mistakes are appended to `problems`.
 * @param taken lower-case names of headers that the tool sets otherwise
 */
export function createConnectionPlan(
  declaration: RestToolDeclaration,
  taken: readonly string[],
  problems: string[],
): ConnectionPlan | undefined {
  problems.push(...connectionProblems(declaration));
  if (!declaration.stateful) return undefined;
  const { connection = {} } = declaration;
  return {
    options: toOptions(connection),
    hasCookies: connection.cookies ?? true,
    tokens: tokenRules(declaration, taken, problems),
  };
}

/** Defaults of seed 003 (`ConnectionStateConfig`). */
const DEFAULTS = {
  poolSize: 10,
  maxOverflow: 20,
  poolTimeoutMs: 30_000,
  poolRecycleMs: 3_600_000,
  connectTimeoutMs: 10_000,
  readTimeoutMs: 60_000,
  writeTimeoutMs: 60_000,
  keepAlive: true,
  keepAliveTimeoutMs: 30_000,
  keepAliveIntervalMs: 60_000,
};

function toOptions(connection: RestConnection): OutgoingOptions {
  const wanted = { ...DEFAULTS, ...connection };
  return {
    gate: { pool: wanted.poolSize, overflow: wanted.maxOverflow, waitMs: wanted.poolTimeoutMs },
    most: wanted.poolSize,
    lifetimeMs: wanted.poolRecycleMs,
    connectTimeoutMs: wanted.connectTimeoutMs,
    readTimeoutMs: wanted.readTimeoutMs,
    writeTimeoutMs: wanted.writeTimeoutMs,
    isPersistent: wanted.keepAlive,
    idleMs: wanted.keepAliveTimeoutMs,
    probeMs: wanted.keepAliveIntervalMs,
  };
}
