import { messageOf } from '../errors/index.js';
import { readText } from '../kernel/json/index.js';
import { mistakeLine } from './config-invalid.error.js';
import { ENV_NAMES, secretFileOf, type EnvName } from './env.schema.js';
import { hasQuote, parseKeys } from './key-text.parser.js';
import { secretIn } from './secret-file.loader.js';

type Given = Readonly<Record<string, string>>;
type KeyFileName = EnvName & `${string}_API_KEY_FILE`;

const KEY_FILES = ENV_NAMES.filter((name): name is KeyFileName => name.endsWith('_API_KEY_FILE'));

/**
 * Adds the keys of key files to the variables. The first of several keys also becomes the single key variable, so that
 * checks for that variable find it.
 */
export function withKeys(given: Given): { given: Given; mistakes: string[] } {
  const all: Record<string, string> = { ...given };
  const mistakes: string[] = [];
  for (const file of KEY_FILES) {
    const single = file.slice(0, -'_FILE'.length);
    const keys = parseKeys([all[single], all[`${single}S`]].join(','));
    const path = given[file];
    try {
      if (path !== undefined) keys.push(...keysIn(path));
    } catch (error) {
      mistakes.push(mistakeLine(file, path!, `cannot be used: ${messageOf(error)}`));
    }
    const [first] = keys;
    if (first === undefined) continue;
    all[single] = first;
    if (all[`${single}S`] !== undefined || path !== undefined) all[`${single}S`] = keys.join(',');
  }
  return { given: all, mistakes };
}

const SECRETS = ENV_NAMES.filter((name) => secretFileOf(name) !== undefined);
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/**
 * Adds the secrets of the files that `<NAME>_FILE` variables name: those of Jackdaw's own secrets and of `TOOL_SECRETS`.
 * In a file of keys, each line is an entry.
 */
export function withSecretFiles(given: Given): { given: Given; mistakes: string[] } {
  const all: Record<string, string> = { ...given };
  const mistakes: string[] = [];
  const ofTools = (given['TOOL_SECRETS'] ?? '').split(',').map((name) => name.trim());
  for (const name of new Set<string>([...SECRETS, ...ofTools.filter((one) => VARIABLE_NAME.test(one))])) {
    const path = given[`${name}_FILE`];
    if (path === undefined) continue;
    try {
      if (all[name] !== undefined) throw new Error(`${name} is set too: give one of them`);
      all[name] = secretIn(path, name);
    } catch (error) {
      mistakes.push(`${name}_FILE: ${JSON.stringify(path)} cannot be used: ${messageOf(error)}`);
    }
  }
  return { given: all, mistakes };
}

/** @throws Error when the file cannot be read, has no key, or has a quoted key */
export function keysIn(path: string): string[] {
  const keys = parseKeys(readText(path));
  if (keys.length === 0) throw new Error('the file has no key');
  if (keys.some(hasQuote)) throw new Error('a key in the file has quotes around it: leave them out');
  return keys;
}
