import { nearNames } from '../../tool/index.js';

/** What of these a name was meant to be, as `; did you mean x?`, or else all of them. */
export function nearName(name: string, known: readonly string[]): string {
  const near = nearNames(name, known);
  if (near.length > 0) return `; did you mean ${near.join(' or ')}?`;
  return `; expected ${known.join(', ') || 'none'}`;
}
