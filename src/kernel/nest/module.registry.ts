import type { DynamicModule } from '@nestjs/common';

/** The options of each module. */
const OPTIONS = new WeakMap<DynamicModule, object>();

/**
 * The modules that `JackdawModule.forRoot` created and that are still referenced. Nest identifies a dynamic module by its object:
 * with one object for equal options, an application that imports `forRoot` twice has Jackdaw once. A module only describes
 * providers; each application creates its own.
 */
let known: WeakRef<DynamicModule>[] = [];

/**
 * The module that was created before with equal options, or a new one.
 * @param options compared as data: plain objects and arrays by their content, functions and instances by their identity
 */
export function moduleFor(options: object, make: () => DynamicModule): DynamicModule {
  known = known.filter((one) => one.deref() !== undefined);
  for (const one of known) {
    const made = one.deref();
    if (made && isSame(OPTIONS.get(made), options)) return made;
  }
  const module = make();
  OPTIONS.set(module, options);
  known.push(new WeakRef(module));
  return module;
}

function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  }
  return isPlain(one) && isPlain(other) && isSameObject(one, other);
}

function isSameObject(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
