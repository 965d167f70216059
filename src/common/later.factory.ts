import type { InjectionToken, Provider } from '@nestjs/common';

/** A value that is there only once the application begins: it is made of what is injected. */
export class Later<T> {
  constructor(
    readonly inject: readonly InjectionToken[],
    readonly useFactory: (...injected: never[]) => T | Promise<T>,
  ) {}

  /** What is made of it. */
  map<Made>(make: (value: T) => Made): Later<Made> {
    return new Later(this.inject, async (...injected: never[]) => make(await this.useFactory(...injected)));
  }
}

/** The provider of a value, there or to come. */
export function provided<T>(token: InjectionToken, value: T | Later<T>): Provider {
  if (!(value instanceof Later)) return { provide: token, useValue: value };
  return { provide: token, useFactory: value.useFactory, inject: [...value.inject] };
}
