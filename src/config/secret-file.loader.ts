import { readText } from '../kernel/json/index.js';

/** The secret in a file; in a file of keys each line is an entry. @throws Error when the file cannot be read or is empty */
export function secretIn(path: string, name: string): string {
  const text = readText(path).trim();
  if (text === '') throw new Error('the file is empty');
  return name.endsWith('_KEYS') ? text.split(/[\r\n,]+/).join(',') : text;
}
