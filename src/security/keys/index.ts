/** API keys: their records, and the service that creates, lists and revokes them. */
export { ApiKeyService } from './api-key.service.js';
export type { ApiKeyPage, ApiKeyRecord, KeyScope, NewApiKey } from './api-key.types.js';
