import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scope.types.js';

export const REQUIRED_SCOPE = 'jackdaw:scope';

/** The scope that a route, or all routes of a controller, need. A route without it is refused unless it is public. */
export const Requires = (scope: Scope) => SetMetadata(REQUIRED_SCOPE, scope);
