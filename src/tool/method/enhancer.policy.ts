import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
} from '@nestjs/common/constants.js';
import { parameterPipes } from './tool-parameter.decorator.js';
import type { ToolProvider } from './method-handler.factory.js';

const ENHANCERS = [GUARDS_METADATA, INTERCEPTORS_METADATA, PIPES_METADATA, EXCEPTION_FILTERS_METADATA];

/**
 * The classes that are bound to a tool by `@UseGuards` and its like, and that Nest has not made: it makes those of class
 * providers only, and passes over the others in silence. A guard that is left out is a hole, so such a tool is refused.
 */
export function missingEnhancers({ wrapper, declared: { instance, method } }: ToolProvider): string[] {
  const places = [(instance as Record<string, object>)[method]!, instance.constructor];
  const bound = places.flatMap((place) =>
    ENHANCERS.flatMap((key) => (Reflect.getMetadata(key, place) as unknown[] | undefined) ?? []),
  );
  const classes = [...bound, ...parameterPipes(instance.constructor, method)].filter(
    (enhancer) => typeof enhancer === 'function',
  );
  return classes.filter((type) => !wrapper.host?.injectables.has(type)).map((type) => type.name);
}
