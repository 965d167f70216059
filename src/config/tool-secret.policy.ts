import { mistakeLine } from './config-invalid.error.js';
import { ENV_NAMES } from './env.schema.js';
import { isQuoted } from './key-text.parser.js';
import { hostName } from './variable-name.policy.js';

type Given = Readonly<Record<string, string | undefined>>;

/** A shorter secret cannot be distinguished from ordinary words, so it could not be redacted from results and logs. */
const MIN_LENGTH = 8;

/** The values of the variables that `TOOL_SECRETS` names. */
export function toolSecrets(given: Given, names: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
}

/** Errors of the named variables; messages never contain a value. */
export function secretMistakes(given: Given, names: readonly string[] = []): string[] {
  const own = new Set<string>(ENV_NAMES.flatMap((name) => [name, hostName(name)]));
  return [...new Set(names)].flatMap((name) => {
    const fault = faultOf(given[name], own.has(name));
    return fault ? [mistakeLine('TOOL_SECRETS', name, fault)] : [];
  });
}

function faultOf(value: string | undefined, isOwn: boolean): string | undefined {
  if (isOwn) return 'is a variable of Jackdaw itself, which tools cannot use: use another variable';
  if (value === undefined) return 'is not set: set that variable, or leave its name out';
  if (isQuoted(value)) return 'has a value in quotes, which docker’s --env-file retains: leave them out';
  if (value.length >= MIN_LENGTH) return undefined;
  return `is shorter than ${MIN_LENGTH} characters, too short to be redacted from results and logs: use a longer secret`;
}
