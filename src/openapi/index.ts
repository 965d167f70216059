/** The OpenAPI document of the REST API and its page, built on the first request. */
export { mountOpenApi } from './openapi-docs.js';
