/** Nest's dependency injection: options, tokens and decorators. */
export { HttpOnly, isHttpOnly } from './http-only.decorator.js';
export { AsyncOption, provided } from './async-option.factory.js';
export { nestVersion } from './nest-version.loader.js';
export { moduleFor } from './module.registry.js';
export { serviceToken } from './service-token.js';
export type { ServiceName } from './service-token.js';
