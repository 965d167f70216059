import type { OutgoingOptions } from '../../security/index.js';
import type { RestToolDeclaration } from '../rest-tool.types.js';
import { type TokenRule, tokenRules } from './held-token.factory.js';
import { connectionProblems } from './connection-use.policy.js';
import type { RestConnection } from './rest-connection.types.js';

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
