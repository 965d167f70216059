import type { Extension } from '../agent/index.js';
import { AppError } from '../errors/index.js';

type Version = readonly [number, number, number];

const VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

/** A dependency of an extension: `audit`, or `audit@^1.2.0`. */
interface Dependency {
  readonly name: string;
  /** Minimum version; if absent, any. */
  readonly atLeast?: string;
}

/** `1.4.0`: three numbers. */
function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/** `null` for a text that is neither a name nor a name with `@^` and a version. */
function parseDependency(text: string): Dependency | null {
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
function isCompatible(version: string, atLeast: string): boolean {
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

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Sorts extensions so that each follows its dependencies; otherwise preserves the given order.
 * @param started extensions that have started before
 * @throws AppError `EXTENSION_INVALID` naming every mistake: invalid or taken names, missing or incompatible
 *   dependencies, cycles
 */
export function orderExtensions(extensions: readonly Extension[], started: readonly Extension[] = []): Extension[] {
  const all = [...started, ...extensions];
  const byName = new Map(all.map((extension) => [extension.name, extension]));
  const mistakes = [
    ...extensions.flatMap(faultsOf),
    ...duplicates(all),
    ...extensions.flatMap((extension) => unmet(extension, byName)),
  ];
  const ordered: Extension[] = [];
  const passed = new Set(started);
  for (const extension of extensions) mistakes.push(...visit(extension, [], { byName, passed, ordered }));
  if (mistakes.length > 0) throw new AppError('EXTENSION_INVALID', mistakes.join('\n'));
  return ordered;
}

/** Title of an extension in messages: its name, version and class. */
export function titleOf({ name, version, constructor }: Extension): string {
  return `extension "${name}" ${version} (${constructor.name})`;
}

function faultsOf(extension: Extension): string[] {
  const { name, version, dependencies, constructor } = extension;
  const faults = dependencies
    .filter((text) => !parseDependency(text))
    .map((text) => `its dependency "${text}" is neither a name nor a name with a version such as "audit@^1.2.0"`);
  if (!NAME.test(name)) faults.push('its name must be 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-"');
  if (!isVersion(version)) faults.push(`its version must be three numbers such as "1.4.0"`);
  return faults.map((fault) => `The extension "${name}" (${constructor.name}): ${fault}.`);
}

function duplicates(all: readonly Extension[]): string[] {
  const names = all.map(({ name }) => name);
  const doubles = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  return [...doubles].map((name) => {
    const classes = all.filter((extension) => extension.name === name).map(({ constructor }) => constructor.name);
    return `${classes.length} extensions are named "${name}": ${classes.join(', ')}; remove or rename one of them.`;
  });
}

function dependenciesOf({ dependencies }: Extension): Dependency[] {
  return dependencies.flatMap((text) => parseDependency(text) ?? []);
}

function unmet(extension: Extension, byName: ReadonlyMap<string, Extension>): string[] {
  return dependenciesOf(extension).flatMap(({ name, atLeast }) => {
    const found = byName.get(name);
    if (!found) return [`The ${titleOf(extension)} requires the extension "${name}", which is missing: add it.`];
    if (atLeast === undefined || !isVersion(found.version) || isCompatible(found.version, atLeast)) return [];
    return [`The ${titleOf(extension)} requires "${name}" ^${atLeast}, but its version is ${found.version}.`];
  });
}

interface Visit {
  readonly byName: ReadonlyMap<string, Extension>;
  /** Placed, or found in a cycle. */
  readonly passed: Set<Extension>;
  readonly ordered: Extension[];
}

/** Places an extension after its dependencies. @param path the dependents that lead to it @returns errors of cycles */
function visit(extension: Extension, path: readonly Extension[], { byName, passed, ordered }: Visit): string[] {
  if (passed.has(extension)) return [];
  const at = path.indexOf(extension);
  if (at >= 0) {
    const cycle = [...path.slice(at), extension].map(({ name }) => `"${name}"`).join(' → ');
    return [`Extensions have circular dependencies: ${cycle}.`];
  }
  const cycles = dependenciesOf(extension).flatMap(({ name }) => {
    const found = byName.get(name);
    return found ? visit(found, [...path, extension], { byName, passed, ordered }) : [];
  });
  passed.add(extension);
  ordered.push(extension);
  return cycles;
}
