/** Shared basics of all layers: ids, clocks, limits of concurrency and memory, mistakes in fields, the principal. */
export { isDoneWithin, untilAborted, Semaphore, withTimeout } from './semaphore.js';
export { ChangeListeners } from './change-listeners.registry.js';
export { DAY_MS, dayOf, steadyNow, TimeLimit, WallClockCheck } from './clock.js';
export { fieldMistake, issueMistakes, MAX_MISTAKES } from './field-mistake.factory.js';
export type { FieldMistake } from './field-mistake.factory.js';
export { HEAP_COST, HeapBudget, HeapReservation } from './heap-budget.js';
export { idsFrom, newId, ID_RULE, isId } from './ids.js';
export { ROLES, VISIBILITIES } from './principal.types.js';
export type { Principal, Role, Visibility } from './principal.types.js';
export { parseRetryAfter } from './retry-after.parser.js';
export { holdProcess, keepProcess } from './process-hold.js';
export { RecurringWork } from './recurring-work.policy.js';
export { MOST_STATE_BYTES } from './state-size.js';
export { VERSION } from './version.js';
