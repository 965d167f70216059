import type { InjectionToken, Provider } from '@nestjs/common';

/** An asynchronous option: a factory with injected providers creates its value at the start of the application. */
export class AsyncOption<T> {
  constructor(
    readonly inject: readonly InjectionToken[],
    readonly useFactory: (...injected: never[]) => T | Promise<T>,
  ) {}

  /** An option derived from this one. */
  map<Made>(make: (value: T) => Made): AsyncOption<Made> {
    return new AsyncOption(this.inject, async (...injected: never[]) => make(await this.useFactory(...injected)));
  }
}

/** A provider for a value or an asynchronous option. */
export function provided<T>(token: InjectionToken, value: T | AsyncOption<T>): Provider {
  if (!(value instanceof AsyncOption)) return { provide: token, useValue: value };
  return { provide: token, useFactory: value.useFactory, inject: [...value.inject] };
}
