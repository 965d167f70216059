/** The REST API: chats, runs, sessions and keys over HTTP. */
export { disconnectSignal, markReplay, parseIdempotencyKey } from './client-request.js';
export { EventStreamService } from './event-stream.service.js';
export { ApiModule, REST_ROUTES } from './api.module.js';
