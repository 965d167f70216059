/** The log: options of pino, masking of secrets, one line for each request. */
export { BootLog, logOptions } from './log-options.factory.js';
export { createRedaction } from './log-secret.policy.js';
export { logRequests } from './request-log.js';
export { createTextLog } from './text-log.js';
export { createTurnLog } from './turn-log.js';
