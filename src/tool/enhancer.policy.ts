import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
} from '@nestjs/common/constants.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';

const ENHANCERS = {
  guards: GUARDS_METADATA,
  interceptors: INTERCEPTORS_METADATA,
  pipes: PIPES_METADATA,
  filters: EXCEPTION_FILTERS_METADATA,
};

/**
 * The enhancers bound to a tool's method or class. They are not run for tools yet, and a guard that is silently left out
 * is a hole: such a tool is refused.
 */
export function boundEnhancers({ instance, method }: Pick<DeclaredTool, 'instance' | 'method'>): string[] {
  const places = [(instance as Record<string, object>)[method]!, instance.constructor];
  return Object.entries(ENHANCERS)
    .filter(([, key]) => places.some((place) => Reflect.hasMetadata(key, place)))
    .map(([name]) => name);
}
