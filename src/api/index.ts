/** The REST API: chats, runs, sessions and keys over HTTP. */
export { ApiModule, REST_ROUTES } from './api.module.js';
