import 'reflect-metadata';
import type { DtoClass } from './nested-class.accessor.js';

/** Where `@ApiProperty` of @nestjs/swagger writes; that library need not be there. */
const SWAGGER = 'swagger/apiModelProperties';
const TOLD = ['title', 'description', 'default', 'example', 'examples', 'format', 'deprecated'] as const;

type Notes = Partial<Record<(typeof TOLD)[number], unknown>>;

/** What a field's `@ApiProperty` tells a reader, as JSON Schema; what must hold of it class-validator says. */
export function notesOf(dto: DtoClass, property: string): Record<string, unknown> {
  const given = Reflect.getMetadata(SWAGGER, dto.prototype as object, property) as Notes | undefined;
  if (!given) return {};
  const { example, ...notes } = Object.fromEntries(
    TOLD.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])),
  ) as Notes;
  return { ...notes, ...(example !== undefined && { examples: [example] }) };
}
