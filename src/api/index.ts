/** The REST API: chats, runs and sessions over HTTP. */
export { ApiModule } from './api.module.js';
