/** The OpenAPI document of the REST API and its page, built on the first request. */
export { loadTypes, mountOpenApi } from './openapi-docs.js';
