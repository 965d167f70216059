import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import type { ToolInput } from '../tool.types.js';
import { createDtoSchema, type DtoClass } from './dto-schema.factory.js';
import { joinedPath, typeText } from './reason.mapper.js';
import type { InputSource } from './input.types.js';
import { createSchemaInput } from './schema-input.factory.js';

/**
 * Input of a tool with a DTO class: validates against its JSON Schema, then with class-validator, and creates an
 * instance. Loaded on demand.
 * @throws AppError `TOOL_INVALID` for a class without a JSON Schema form
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

/** All violated rules, including those of nested fields, with the path and the type of the value. */
function reasonsOf(errors: readonly ValidationError[], parent = ''): string[] {
  return errors.flatMap(({ property, constraints = {}, children = [], value }) => {
    const path = joinedPath(parent, property);
    const own = Object.values(constraints).map(
      (message) => `${JSON.stringify(path)}: ${message}, got ${typeText(value)}`,
    );
    return [...own, ...reasonsOf(children, path)];
  });
}
