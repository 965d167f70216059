import type { RestToolDeclaration } from '../rest-tool.types.js';
import type { RestConnection } from './rest-connection.types.js';

/** What a REST tool keeps is its connection: the other options are about a business state, which it has none of. */
const STATE_OPTIONS: ReadonlySet<string> = new Set(['manager', 'ttlMs', 'maxHistory', 'cleanupAfterRun']);

/** Each option of a connection that has an effect only beside others. */
const OPTIONS_OF_KEEPING = ['keepAliveTimeoutMs', 'keepAliveIntervalMs', 'poolRecycleMs'] as const;

/** What a declaration says of its state and its connection that would have no effect, each for the end of a sentence. */
export function connectionProblems(declaration: RestToolDeclaration): string[] {
  const { stateful, connection } = declaration;
  if (connection !== undefined && !stateful) {
    return ['it has a connection and keeps no state: say `"stateful": true` too'];
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
    (key) => `its stateful.${key} has no effect: a REST tool keeps a connection and has no business state`,
  );
}

function unusedOptions(connection: RestConnection): string[] {
  const { keepAlive = true, maxOverflow, poolTimeoutMs, retry } = connection;
  const idle = keepAlive ? [] : OPTIONS_OF_KEEPING.filter((key) => connection[key] !== undefined);
  const problems = idle.map(
    (key) => `its connection.${key} has no effect, as keepAlive is false: no connection serves a further call`,
  );
  if (maxOverflow === 0 && poolTimeoutMs !== undefined) {
    problems.push('its connection.poolTimeoutMs has no effect, as maxOverflow is 0: no call waits');
  }
  if (retry?.attempts === 1 && Object.keys(retry).length > 1) {
    problems.push('its connection.retry says how to try again, and its attempts are 1: leave the others out');
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
