/** Providers with an API like that of OpenAI: their dialect, route and factory. */
export { bearerRoute, WireModelFactory } from './wire-model.factory.js';
export type { RouteTo, WireDialect, WireRoute } from './wire-dialect.types.js';
