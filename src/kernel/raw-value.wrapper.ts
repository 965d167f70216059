import 'reflect-metadata';

const RAW = Symbol('raw');

/**
 * Hides a user's value from libraries: class-transformer instantiates whatever a value names as its `constructor`, and
 * Nest's pipe deletes this key and `prototype` from all input, including users' own data.
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

/** Marks a field of a class as a raw value. */
export function markRaw(prototype: object, field: string | symbol): void {
  Reflect.defineMetadata(RAW, true, prototype, field);
}

/** Whether `markRaw` marked the field of the class or of a superclass. */
export function isRaw({ prototype }: Function, field: string): boolean {
  return Reflect.getMetadata(RAW, prototype as object, field) === true;
}
