/** The REST API: chats, runs, sessions and keys over HTTP. */
export { disconnectSignal } from './disconnect.factory.js';
export { EventStreamService } from './event-stream.service.js';
export { markReplay, parseIdempotencyKey } from './idempotency.parser.js';
export { ApiModule, REST_ROUTES } from './api.module.js';
