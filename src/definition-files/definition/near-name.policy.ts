import { nearNames } from '../../kernel/index.js';

/** Suggests similar names, as `; did you mean x?`, or lists all names. */
export function nearName(name: string, known: readonly string[]): string {
  const near = nearNames(name, known);
  if (near.length > 0) return `; did you mean ${near.join(' or ')}?`;
  return `; expected ${known.join(', ') || 'none'}`;
}
