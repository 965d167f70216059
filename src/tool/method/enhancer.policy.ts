import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
} from '../../kernel/nest-metadata.js';
import { parameterPipes } from './tool-parameter.decorator.js';
import type { ToolProvider } from './method-handler.factory.js';

const ENHANCERS = [GUARDS_METADATA, INTERCEPTORS_METADATA, PIPES_METADATA, EXCEPTION_FILTERS_METADATA];

/**
 * Classes bound by `@UseGuards` and the like that Nest has not instantiated. Nest instantiates only those of class
 * providers and silently ignores the others. An ignored guard is a security hole, so such a tool is rejected.
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
