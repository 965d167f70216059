import type { ResponseFormat } from '../chat.types.js';
import { toStrictSchema } from '../strict-schema.mapper.js';
import type { FormatMode } from './wire-dialect.types.js';

/** A response format in the wire format. */
export interface WireFormat {
  /** `response_format`, if the request contains it. */
  readonly field?: Readonly<Record<string, unknown>>;
  /**
   * Whether the messages must contain the format as an instruction: JSON mode rejects prompts without the word JSON.
   */
  readonly isInPrompt: boolean;
}

const OBJECT: WireFormat = { field: { type: 'json_object' }, isInPrompt: true };
const IN_WORDS: WireFormat = { isInPrompt: true };
const DEFAULT_NAME = 'answer';

/**
 * Converts a format to the supported mode. JSON modes return objects, so other values are requested by an instruction.
 */
export function toWireFormat(format: ResponseFormat, mode: FormatMode): WireFormat {
  if (mode === 'none') return IN_WORDS;
  if (format === 'json') return OBJECT;
  const { schema, name = DEFAULT_NAME } = format;
  if (schema['type'] !== 'object') return IN_WORDS;
  if (mode === 'schema') return { field: { type: 'json_schema', json_schema: { name, schema } }, isInPrompt: true };
  const strict = mode === 'strict' ? toStrictSchema(schema, { maxOptional: 0, mayRefer: true }) : undefined;
  if (!strict) return OBJECT;
  return { field: { type: 'json_schema', json_schema: { name, schema: strict, strict: true } }, isInPrompt: false };
}
