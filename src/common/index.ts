/** What every layer needs and none owns: errors and their codes, ids, JSON, the principal. */
export { untilAborted } from './abort.policy.js';
export { AppError, messageOf, toAppError } from './app.error.js';
export type { AppErrorOptions } from './app.error.js';
export { canonicalJson } from './canonical-json.mapper.js';
export { ChangeListeners } from './change-listeners.registry.js';
export { ERROR_CODES } from './error-code.types.js';
export type { ErrorCode } from './error-code.types.js';
export { HttpExceptionFilter } from './http-exception.filter.js';
export { newId } from './id.factory.js';
export { parseJson } from './json.parser.js';
export type { JsonFault, ParsedJson } from './json.parser.js';
export type { JsonSchema, JsonValue } from './json.types.js';
export { ROLES } from './principal.types.js';
export type { Principal, Role } from './principal.types.js';
export { parseRetryAfter } from './retry-after.parser.js';
export type { Problem } from './problem.types.js';
export { RecurringWork } from './recurring-work.policy.js';
export { Semaphore } from './semaphore.policy.js';
