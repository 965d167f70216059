/** JSON: parsing without loss of integers, canonical text, and raw values. */
export { canonicalJson } from './canonical-json.mapper.js';
export { ExactInteger, exactIn, hasExact, isJsonObject, parseExactJson, withRounded } from './exact-json.parser.js';
export { describeJsonFault, jsonErrorOffset } from './json-fault.js';
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
export { MarkedIntegers } from './marked-integers.mapper.js';
