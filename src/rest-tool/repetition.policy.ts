import type { ToolEffect } from '../tool/index.js';
import type { CallRules, RetryPace } from './rest-call.executor.js';
import type { RestToolDeclaration } from './rest-tool.types.js';

export interface Repetition {
  readonly effect: ToolEffect;
  readonly rules: CallRules;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const PACE: RetryPace = { delayMs: 200, backoff: 2, mostMs: 5000, isJittered: true };

/** Retries, time limit and backoff of a declaration's calls. Mistakes are appended to `problems`. */
export function repetitionOf(declaration: RestToolDeclaration, problems: string[]): Repetition {
  const { method = 'GET', connection } = declaration;
  const { effect = READING.has(method) ? 'read' : 'once' } = declaration;
  const isOnce = effect === 'once';
  const { retries = isOnce ? 0 : RETRIES } = { retries: wantedRetries(declaration) };
  if (isOnce && retries > 0) {
    const what = connection?.retry ? 'a connection.retry' : 'retries';
    problems.push(`it has ${what}, but calls with the effect "once" are never repeated`);
  }
  return { effect, rules: { retries, timeoutMs: timeoutOf(declaration), pace: paceOf(declaration) } };
}

function timeoutOf({ timeoutMs, connection }: RestToolDeclaration): number {
  return timeoutMs ?? connection?.timeoutMs ?? TIMEOUT_MS;
}

function wantedRetries({ retries, connection: { retry } = {} }: RestToolDeclaration): number | undefined {
  return retries ?? (retry && (retry.attempts ?? RETRIES + 1) - 1);
}

function paceOf({ stateful, connection: { retry = {} } = {} }: RestToolDeclaration): RetryPace {
  if (!stateful) return PACE;
  const { delayMs = 1000, backoff = 2, jitter = true } = retry;
  return { delayMs, backoff, mostMs: Infinity, isJittered: jitter };
}
