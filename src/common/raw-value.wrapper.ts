import 'reflect-metadata';

const RAW = Symbol('raw');

/**
 * A value that libraries are to pass by: class-transformer makes an instance of whatever a value calls its `constructor`,
 * and Nest's pipe takes that key and `prototype` out of everything that comes, users' own data included.
 */
export class RawValue {
  readonly #value: unknown;

  constructor(value?: unknown) {
    this.#value = value;
  }

  static unwrapped(value: unknown): unknown {
    return value instanceof RawValue ? value.#value : value;
  }
}

/** Says that a field of a class holds what is passed by. */
export function markRaw(prototype: object, field: string | symbol): void {
  Reflect.defineMetadata(RAW, true, prototype, field);
}

/** Whether `markRaw` has said so of a field of the class, or of one that it extends. */
export function isRaw({ prototype }: Function, field: string): boolean {
  return Reflect.getMetadata(RAW, prototype as object, field) === true;
}
