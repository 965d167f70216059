import 'reflect-metadata';
import type { DtoClass } from './nested-class.accessor.js';

/** Metadata key of `@ApiProperty` from @nestjs/swagger, an optional library. */
const SWAGGER = 'swagger/apiModelProperties';
const NOTE_KEYWORDS = ['title', 'description', 'default', 'example', 'examples', 'format', 'deprecated'] as const;

type Notes = Partial<Record<(typeof NOTE_KEYWORDS)[number], unknown>>;

/** Annotations of a field's `@ApiProperty` as JSON Schema; constraints come from class-validator. */
export function notesOf(dto: DtoClass, property: string): Record<string, unknown> {
  const given = Reflect.getMetadata(SWAGGER, dto.prototype as object, property) as Notes | undefined;
  if (!given) return {};
  const { example, ...notes } = Object.fromEntries(
    NOTE_KEYWORDS.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])),
  ) as Notes;
  return { ...notes, ...(example !== undefined && { examples: [example] }) };
}
