import { mistakeLine } from './config-invalid.error.js';
import { ENV_NAMES } from './env.schema.js';
import { isQuoted } from './key-text.parser.js';

type Given = Readonly<Record<string, string | undefined>>;

/** A shorter one could not be told from any other word, and so not be kept out of results and logs. */
const MIN_LENGTH = 8;

/** The values of the variables that `TOOL_SECRETS` names. */
export function toolSecrets(given: Given, names: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
}

/** What is wrong with them; no value is ever part of a message. */
export function secretMistakes(given: Given, names: readonly string[] = []): string[] {
  const own = new Set<string>(ENV_NAMES);
  return names.flatMap((name) => {
    const fault = faultOf(given[name], own.has(name));
    return fault ? [mistakeLine('TOOL_SECRETS', name, fault)] : [];
  });
}

function faultOf(value: string | undefined, isOwn: boolean): string | undefined {
  if (isOwn) return 'is a variable of Jackdaw itself, which no tool is given: use one of its own';
  if (value === undefined) return 'is not set: set that variable, or leave its name out';
  if (isQuoted(value)) return 'has a value in quotes, which docker’s --env-file keeps: leave them out';
  if (value.length >= MIN_LENGTH) return undefined;
  return `is shorter than ${MIN_LENGTH} characters, too short to be kept out of results and logs: use a longer secret`;
}
