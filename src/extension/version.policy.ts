type Version = readonly [number, number, number];

const VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

/** A dependency of an extension: `audit`, or `audit@^1.2.0`. */
export interface Dependency {
  readonly name: string;
  /** Minimum version; if absent, any. */
  readonly atLeast?: string;
}

/** `1.4.0`: three numbers. */
export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/** `null` for a text that is neither a name nor a name with `@^` and a version. */
export function parseDependency(text: string): Dependency | null {
  const [name = '', range, ...rest] = text.split('@');
  if (name === '' || rest.length > 0) return null;
  if (range === undefined) return { name };
  const atLeast = range.slice(1);
  return range.startsWith('^') && isVersion(atLeast) ? { name, atLeast } : null;
}

/**
 * Whether a version is at least `atLeast` and compatible with it: by Semantic Versioning the first non-zero number
 * changes with breaking changes. Both must be versions.
 */
export function isCompatible(version: string, atLeast: string): boolean {
  const [have, want] = [toNumbers(version), toNumbers(atLeast)];
  const breaking = want.findIndex((part) => part > 0);
  const fixed = breaking < 0 ? want.length : breaking + 1;
  if (want.slice(0, fixed).some((part, i) => part !== have[i])) return false;
  const differs = have.findIndex((part, i) => part !== want[i]);
  return differs < 0 || have[differs]! > want[differs]!;
}

function toNumbers(version: string): Version {
  return version.split('.').map(Number) as unknown as Version;
}
