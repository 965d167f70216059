import 'reflect-metadata';
import * as validators from 'class-validator';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { AppError } from '../../errors/index.js';
import { type JsonSchema } from '../../kernel/index.js';
import { dtoConverters } from './dto-correction.mapper.js';
import { notesOf } from './dto-note.mapper.js';
import { type DtoClass, type NestedClasses, nestedClasses } from './nested-class.accessor.js';

type Property = Record<string, unknown> & { items?: Record<string, unknown> };
type Decorated = ReturnType<ReturnType<typeof validators.getMetadataStorage>['getTargetValidationMetadatas']>;

/**
 * JSON Schema of a DTO class from its class-validator decorators. Nested classes are in `$defs`, which allows
 * recursion. Descriptions come from `@JSONSchema` or `@ApiProperty`; a field with an initial value is optional.
 * @throws AppError `TOOL_INVALID` for a class without a JSON Schema form
 */
export function createDtoSchema(dto: DtoClass, advice: string): JsonSchema {
  return new DtoDescription(dto, advice).describe();
}

class DtoDescription {
  /** Key in `$defs` of each nested class; the root is `#`. */
  private readonly places = new Map<DtoClass, string>();
  private readonly waiting: [string, DtoClass][] = [];

  constructor(
    private readonly root: DtoClass,
    private readonly advice: string,
  ) {}

  describe(): JsonSchema {
    const schema = this.schemaOf(this.root);
    const definitions: Record<string, JsonSchema> = {};
    // A definition may add further definitions to the queue.
    for (let next = this.waiting.shift(); next; next = this.waiting.shift())
      definitions[next[0]] = this.schemaOf(next[1]);
    return Object.keys(definitions).length > 0 ? { ...schema, $defs: definitions } : schema;
  }

  private schemaOf(dto: DtoClass): JsonSchema {
    const decorated = validators.getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
    if (decorated.length === 0) {
      const where = dto === this.root ? '' : ` inside of ${this.root.name}`;
      throw new AppError(
        'TOOL_INVALID',
        `the class ${dto.name}${where} has no class-validator decorators: ${this.advice}`,
      );
    }
    const converters = dtoConverters((property) => this.referTo(dto, property));
    const schema = targetConstructorToSchema(dto, { additionalConverters: converters }) as JsonSchema;
    return this.complete(dto, schema, decorated);
  }

  /** Adds what class-validator-jsonschema omits: integers, descriptions by other decorators, initial values. */
  private complete(dto: DtoClass, schema: JsonSchema, decorated: Decorated): JsonSchema {
    const properties = schema['properties'] as Record<string, Property>;
    for (const { name, propertyName, each } of decorated) {
      const property = properties[propertyName];
      if (name !== validators.IS_INT || !property) continue;
      if (each && property.items) property.items['type'] = 'integer';
      else property['type'] = 'integer';
    }
    const initial = initialValues(dto);
    for (const [name, property] of Object.entries(properties)) {
      const notes = notesOf(dto, name);
      const value = name in initial ? { default: initial[name] } : {};
      properties[name] = { ...notes, ...value, ...property };
    }
    const { required = [], ...rest } = schema as { readonly required?: readonly string[] };
    const needed = required.filter((name) => !(name in initial) && !('default' in (properties[name] ?? {})));
    return { ...rest, ...(needed.length > 0 && { required: needed }) };
  }

  private referTo(dto: DtoClass, property: string): JsonSchema {
    const nested = nestedClasses(dto, property);
    if (!nested) {
      throw new AppError(
        'TOOL_INVALID',
        `${dto.name}.${property} holds another class, and which one is gone at run time: add @Type(() => ThatClass) of class-transformer. ` +
          'A @Type that is there belongs to another copy of class-transformer: install one copy (npm ls class-transformer)',
      );
    }
    return nested.kind === 'one' ? { $ref: this.placeOf(nested.type) } : this.choice(nested);
  }

  private choice({ property, types }: Extract<NestedClasses, { kind: 'choice' }>): JsonSchema {
    return {
      oneOf: types.map(({ name, value }) => ({
        $ref: this.placeOf(value),
        properties: { [property]: { const: name } },
        required: [property],
      })),
    };
  }

  private placeOf(dto: DtoClass): string {
    if (dto === this.root) return '#';
    let place = this.places.get(dto);
    if (place === undefined) {
      const taken = [...this.places.values()];
      place = dto.name;
      for (let n = 2; taken.includes(place); n++) place = `${dto.name}_${n}`;
      this.places.set(dto, place);
      this.waiting.push([place, dto]);
    }
    return `#/$defs/${place}`;
  }
}

/** Initial field values as JSON; empty for a class whose constructor fails without arguments. */
function initialValues(dto: DtoClass): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify({ ...new dto() })) as Record<string, unknown>;
  } catch {
    return {};
  }
}
