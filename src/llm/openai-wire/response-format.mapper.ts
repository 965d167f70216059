import type { ResponseFormat } from '../chat.types.js';
import { toStrictSchema } from '../strict-schema.mapper.js';
import type { FormatMode } from './wire-dialect.types.js';

/** A format as the wire has it. */
export interface WireFormat {
  /** `response_format`, if it goes with the request. */
  readonly field?: Readonly<Record<string, unknown>>;
  /** Whether the format must also be told in words: JSON mode is refused where nobody speaks of JSON. */
  readonly isTold: boolean;
}

const OBJECT: WireFormat = { field: { type: 'json_object' }, isTold: true };
const IN_WORDS: WireFormat = { isTold: true };
const DEFAULT_NAME = 'answer';

/** Writes a format as far as a model takes it. JSON modes give objects: whoever wants another value says so in words. */
export function toWireFormat(format: ResponseFormat, mode: FormatMode): WireFormat {
  if (mode === 'none') return IN_WORDS;
  if (format === 'json') return OBJECT;
  const { schema, name = DEFAULT_NAME } = format;
  if (schema['type'] !== 'object') return IN_WORDS;
  if (mode === 'schema') return { field: { type: 'json_schema', json_schema: { name, schema } }, isTold: true };
  const strict = mode === 'strict' ? toStrictSchema(schema, { maxOptional: 0, mayRefer: true }) : undefined;
  if (!strict) return OBJECT;
  return { field: { type: 'json_schema', json_schema: { name, schema: strict, strict: true } }, isTold: false };
}
