import { AppError } from '../errors/index.js';
import { isSecret, type EnvName } from './env.schema.js';

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
