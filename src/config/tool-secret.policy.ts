import { AppError } from '../errors/index.js';
import { ENV_NAMES, type EnvName, isSecret } from './env.schema.js';
import { isQuoted } from './key-text.parser.js';
import { hostName } from './variable-name.policy.js';

const LONGEST_SHOWN = 80;

/** A value for a message: without secrets, without the password and query of a URL, truncated. */
function shown(name: EnvName, text: string): string {
  if (isSecret(name)) return 'its value';
  const safe = text.replace(/\/\/[^/@]*@/, '//***@').replace(/(:\/\/[^?]*\?).*/s, '$1***');
  return JSON.stringify(safe.length > LONGEST_SHOWN ? `${safe.slice(0, LONGEST_SHOWN)}…` : safe);
}

/** One line: the variable, its value, and the error (a phrase such as "is not allowed: give …"). */
export function mistakeLine(name: EnvName, text: string, fault: string): string {
  return `${name}: ${shown(name, text)} ${fault}`;
}

/** @param hasFile whether the `.env` file was read */
export function configInvalid(mistakes: readonly string[], hasFile: boolean): AppError {
  const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
  return new AppError(
    'CONFIG_INVALID',
    [
      `The configuration has ${count} (${hasFile ? 'environment and .env' : 'environment'}):`,
      ...mistakes.map((line) => `  ${line}`),
    ].join('\n'),
    { details: { mistakes } },
  );
}

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
