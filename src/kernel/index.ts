/** Shared basics of all layers: ids, JSON, text, images, abort signals, the principal. */
export { isDoneWithin, untilAborted, Semaphore } from './semaphore.js';
export { DISPLAYED_IMAGES, isBinary, mediaTypeOf, parseBinaryField, parseBinaryText } from './binary-text.parser.js';
export { isBase64, imageBytes, MAX_IMAGES, parseImage, type ParsedImage } from './image.parser.js';
export { canonicalJson } from './canonical-json.mapper.js';
export { ChangeListeners } from './change-listeners.registry.js';
export { DAY_MS, dayOf, steadyNow, TimeLimit, WallClockCheck } from './clock.js';
export { editDistance, nearNames, unknownOption } from './near-name.mapper.js';
export { fieldMistake, issueMistakes, MAX_MISTAKES } from './field-mistake.factory.js';
export type { FieldMistake } from './field-mistake.factory.js';
export { ExactInteger, exactIn, hasExact, isJsonObject, parseExactJson, withRounded } from './exact-json.parser.js';
export { HEAP_COST, HeapBudget, HeapReservation } from './heap-budget.js';
export { HttpOnly, isHttpOnly } from './http-only.decorator.js';
export { idsFrom, newId, ID_RULE, isId } from './ids.js';
export { AsyncOption, provided } from './async-option.factory.js';
export {
  parseJson,
  type JsonFault,
  type ParsedJson,
  isRaw,
  markRaw,
  RawValue,
  decodeText,
  readText,
  withoutMark,
  withoutTrailing,
} from './json.js';
export type { JsonSchema, JsonValue } from './json.types.js';
export { nestVersion } from './nest-version.loader.js';
export { ROLES, VISIBILITIES } from './principal.types.js';
export type { Principal, Role, Visibility } from './principal.types.js';
export { MarkedIntegers } from './marked-integers.mapper.js';
export { parseRetryAfter } from './retry-after.parser.js';
export { moduleFor } from './module.registry.js';
export { holdProcess, keepProcess } from './process-hold.js';
export { RecurringWork } from './recurring-work.policy.js';
export { createSecretMask, headerSecrets, maskSecrets, MIN_SECRET_LENGTH, SECRET_HEADER } from './secret.mapper.js';
export { serviceToken } from './service-token.js';
export type { ServiceName } from './service-token.js';
export { MOST_STATE_BYTES } from './state-size.js';
export { indexTerms, queryTerms } from './term.parser.js';
export { rankByTerms } from './term-ranking.js';
export type { IndexedText } from './term-ranking.js';
export { VERSION } from './version.js';
export { wellFormed } from './well-formed.mapper.js';
