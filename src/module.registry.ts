import type { DynamicModule } from '@nestjs/common';
import { AppConfig } from './config/index.js';

/** What a module was made of; it is held as long as the module is. */
const OPTIONS = new WeakMap<DynamicModule, object>();

/**
 * The modules that `JackdawModule.forRoot` has made, as long as anything refers to them. Nest tells dynamic modules apart by their
 * identity: with one object for equal options, an application that imports them twice has Jackdaw once. A module only describes
 * providers; each application makes its own.
 */
let known: WeakRef<DynamicModule>[] = [];

/**
 * The module that was made before with equal options, or a new one.
 * @param options compared as data: plain objects and arrays by what they hold, functions and instances by their identity
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
  if (one instanceof AppConfig && other instanceof AppConfig) return JSON.stringify(one) === JSON.stringify(other);
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
