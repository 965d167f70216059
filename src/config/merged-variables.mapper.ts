import { serverConfig } from './namespaces/server.config.js';
import { compact } from './namespace.factory.js';
import { type EnvRecord, mapNames, type MappedVariables, nearMisses } from './variable-name.mapper.js';
import { hostName } from './variable-name.policy.js';

type Variables = Readonly<Record<string, string>>;

/** The variables of all sources. Empty ones count as not set. */
export interface MergedVariables {
  /** By the names without the prefix. */
  readonly values: Variables;
  /** The names that were set, by those without the prefix. */
  readonly names: Variables;
  /** By the names that were set. */
  readonly raw: Variables;
  readonly mistakes: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Merges the variables of a process and those given in code.
 * @param surroundings the `.env` file, and the environment, which takes precedence
 * @param overrides variables given in code, with or without the prefix; they take precedence over all
 * @param isHost whether the surroundings belong to a host application
 */
export function mergeVariables(
  surroundings: readonly EnvRecord[],
  overrides: EnvRecord,
  isHost: boolean,
): MergedVariables {
  const outer = surroundings.map((source) => mapNames(source, isHost));
  const own = mapNames(overrides);
  const all = [...outer, own];
  // A secret given in code takes precedence over the environment's file with that secret.
  const files = Object.fromEntries(Object.keys(own.values).map((name) => [`${name}_FILE`, '']));
  const found = merged(outer, 'values');
  const values = withProxies(withoutEmpty({ ...found, ...files, ...own.values }));
  const near = [...nearMisses(setNames(found), isHost), ...nearMisses(setNames(own.values))];
  return {
    values,
    names: merged(all, 'names'),
    raw: withProxies(withoutEmpty(merged(all, 'raw'))),
    mistakes: [...new Set(all.flatMap(({ mistakes }) => mistakes))],
    warnings: [...ignoredWarning(outer, values), ...new Set(near)],
  };
}

function merged(sources: readonly MappedVariables[], part: 'values' | 'names' | 'raw'): Variables {
  return Object.assign({}, ...sources.map((source) => source[part])) as Variables;
}

function setNames(variables: Variables): string[] {
  return Object.keys(withoutEmpty(variables));
}

/** Variables of the server, which never had an effect in a host application. */
const SERVER_ONLY: ReadonlySet<string> = new Set(
  Object.keys(serverConfig.variables).filter((name) => name !== 'LOG_LEVEL'),
);

/** One line for the variables that had an effect without the prefix until version 0.1. */
function ignoredWarning(outer: readonly MappedVariables[], values: Variables): string[] {
  const all = new Set(outer.flatMap(({ ignored }) => ignored));
  const ignored = [...all].filter((name) => !SERVER_ONLY.has(name) && values[name] === undefined);
  if (ignored.length === 0) return [];
  return [
    `${ignored.join(', ')}: without the prefix these names have no effect on Jackdaw in a host application; to set its variables, use ${ignored.map(hostName).join(', ')}`,
  ];
}

function withoutEmpty(record: Variables): Record<string, string> {
  const entries = Object.entries(record).map(([name, value]) => [name, value.trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** The lower-case names of proxy variables, which other programs read too; the upper-case ones take precedence. */
function withProxies(variables: Record<string, string>): Record<string, string> {
  const { http_proxy, https_proxy, no_proxy, ...others } = variables;
  return { ...compact({ HTTP_PROXY: http_proxy, HTTPS_PROXY: https_proxy, NO_PROXY: no_proxy }), ...others };
}
