import { SetMetadata } from '@nestjs/common';
import { IS_PUBLIC } from './public.decorator.js';
import type { Scope } from './scope.types.js';

export const REQUIRED_SCOPE = 'jackdaw:scope';

/**
 * The scope that a route, or all routes of a controller, require. With several scopes any one passes the guard, and the
 * handler checks the operation itself. A route without this decorator is denied unless it is public.
 */
export const Requires = (...scopes: readonly [Scope, ...Scope[]]) => SetMetadata(REQUIRED_SCOPE, scopes);

/** The callers of a route: all, or those with one of the scopes. */
export interface RouteAccess {
  readonly isPublic: boolean;
  readonly scopes: readonly Scope[];
}

/** @param sources the handler and its controller; the handler's decorators apply first */
export function accessOf(sources: readonly object[]): RouteAccess {
  const first = (key: string): unknown =>
    sources.map((source) => Reflect.getMetadata(key, source) as unknown).find((value) => value !== undefined);
  return { isPublic: first(IS_PUBLIC) === true, scopes: (first(REQUIRED_SCOPE) as readonly Scope[] | undefined) ?? [] };
}
