/** The log of actions on the data of users: entries, and the service that writes and reads them. */
export { AccessLogModule } from './access-log.module.js';
export { AccessLogService } from './access-log.service.js';
export { ACCESS_TARGETS } from './access-log.types.js';
export type { AccessAction, AccessEntry, AccessFilter, AccessTarget } from './access-log.types.js';
