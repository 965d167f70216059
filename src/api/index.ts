/** The REST API: chats, runs, sessions and keys over HTTP. */
export { ApiModule } from './api.module.js';
