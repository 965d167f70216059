import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scope.types.js';

export const REQUIRED_SCOPE = 'jackdaw:scope';

/**
 * The scope that a route, or all routes of a controller, require. With several scopes any one passes the guard, and the
 * handler checks the operation itself. A route without this decorator is denied unless it is public.
 */
export const Requires = (...scopes: readonly [Scope, ...Scope[]]) => SetMetadata(REQUIRED_SCOPE, scopes);
