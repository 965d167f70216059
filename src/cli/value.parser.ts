import { usageError } from './cli.error.js';

/** @throws CliError for text that is no JSON */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageError(`${name} must be JSON, such as {"city":"Oslo"}.`);
  }
}

/** @throws CliError for JSON that is no object */
export function parseObject(text: string, name: string): object {
  const value = parseJson(text, name);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw usageError(`${name} must be a JSON object, such as {"city":"Oslo"}.`);
}

/** @throws CliError for text that is no whole number */
export function parseCount(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(`${name} must be a whole number.`);
}

/** A value that must be one of several. @throws CliError */
export function parseChoice<T extends string>(
  text: string | undefined,
  choices: readonly T[],
  name: string,
): T | undefined {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw usageError(`${name} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`);
}

/** Without the members that are undefined. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
