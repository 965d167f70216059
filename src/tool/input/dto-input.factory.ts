import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import type { ToolInput } from '../tool.types.js';
import { createDtoSchema } from './dto-schema.factory.js';
import { joinedPath, typeText } from './reason.mapper.js';
import type { InputSource } from './input.types.js';
import type { DtoClass } from './nested-class.accessor.js';
import { createSchemaInput } from './schema-input.factory.js';

/**
 * The input of a tool whose parameter is a DTO class: its JSON Schema is checked first, then class-validator; the tool
 * gets an instance. Loaded for such tools only. Throws `TOOL_INVALID` for a class that cannot be described.
 */
export function createDtoInput(dto: DtoClass, advice: string): InputSource {
  const base = createSchemaInput(createDtoSchema(dto, advice), 'refuse');
  return {
    schema: base.schema,
    async validate(args): Promise<ToolInput> {
      const checked = base.validate(args);
      if (!checked.valid) return checked;
      const value = plainToInstance(dto, checked.value as object);
      const errors = await validate(value, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
      return errors.length === 0 ? { valid: true, value } : { valid: false, reason: reasonsOf(errors).join('; ') };
    },
  };
}

/** Every rule that does not hold, of fields of fields too, with the path and the type of what stands there. */
function reasonsOf(errors: readonly ValidationError[], parent = ''): string[] {
  return errors.flatMap(({ property, constraints = {}, children = [], value }) => {
    const path = joinedPath(parent, property);
    const own = Object.values(constraints).map(
      (message) => `${JSON.stringify(path)}: ${message}, got ${typeText(value)}`,
    );
    return [...own, ...reasonsOf(children, path)];
  });
}
