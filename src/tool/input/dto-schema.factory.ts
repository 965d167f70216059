import 'reflect-metadata';
import * as validators from 'class-validator';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { AppError, type JsonSchema } from '../../common/index.js';

type Converters = NonNullable<NonNullable<Parameters<typeof targetConstructorToSchema>[1]>['additionalConverters']>;
type Property = Record<string, unknown> & { items?: Record<string, unknown> };

/**
 * What class-validator-jsonschema 5 gets wrong: it merges the types of all decorators of a property, so that those
 * that say nothing of a type must not set one; class-validator itself still checks them.
 */
const CORRECTIONS: Converters = {
  [validators.IS_NOT_EMPTY]: {},
  [validators.IS_DATE_STRING]: { type: 'string' },
  [validators.IS_NUMBER_STRING]: { type: 'string' },
  [validators.IS_ENUM]: (meta) => ({ enum: meta.constraints[1] as unknown[] }),
};

/**
 * The JSON Schema of a flat DTO class. Throws `TOOL_INVALID` for a class without class-validator decorators or with
 * nested classes.
 */
export function createDtoSchema(dto: new () => object, advice: string): JsonSchema {
  const decorated = validators.getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
  if (decorated.length === 0) {
    throw new AppError(
      'TOOL_INVALID',
      `its parameter's class ${dto.name} has no class-validator decorators: ${advice}`,
    );
  }
  const schema = targetConstructorToSchema(dto, { additionalConverters: CORRECTIONS }) as JsonSchema;
  if (JSON.stringify(schema).includes('"$ref":')) {
    throw new AppError(
      'TOOL_INVALID',
      `its parameter's class ${dto.name} holds another class, which is not served yet: give @Tool an \`input\` schema`,
    );
  }
  const properties = schema.properties as Record<string, Property>;
  for (const { name, propertyName, each } of decorated) {
    const property = properties[propertyName];
    if (name !== validators.IS_INT || !property) continue;
    if (each && property.items) property.items.type = 'integer';
    else property.type = 'integer';
  }
  return schema;
}
