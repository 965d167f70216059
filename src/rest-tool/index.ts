/** REST endpoints as tools, declared in files or in code, or imported from an OpenAPI document. */
export type {
  RestConnection,
  RestRetry,
  TokenCapture,
  RestAuth,
  RestMethod,
  RestToolDeclaration,
} from './rest-tool.types.js';
export { valueAt } from './json-pointer.parser.js';
export type { OpenApiImport, OpenApiImported, OpenApiOperation, OpenApiRefusal } from './openapi/openapi.types.js';
export { RestToolModule } from './rest-tool.module.js';
export { RestToolRegistry } from './rest-tool.registry.js';
