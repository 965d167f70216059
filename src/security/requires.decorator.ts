import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scope.types.js';

export const REQUIRED_SCOPE = 'jackdaw:scope';

/**
 * The scope that a route, or all routes of a controller, need; of several any one, and the handler then looks for what it
 * is asked to do. A route without it is refused unless it is public.
 */
export const Requires = (...scopes: readonly [Scope, ...Scope[]]) => SetMetadata(REQUIRED_SCOPE, scopes);
