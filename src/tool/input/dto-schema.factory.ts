import 'reflect-metadata';
import * as validators from 'class-validator';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { Type, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { AppError } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';

export type DtoClass = new () => object;

/** Class of a nested field: one, or several with a discriminator. */
export type NestedClasses =
  | { readonly kind: 'one'; readonly type: DtoClass }
  | {
      readonly kind: 'choice';
      readonly property: string;
      readonly types: readonly { readonly name: string; readonly value: DtoClass }[];
    };

/** class-transformer does not export its metadata storage. */
const storage: { findTypeMetadata(target: Function, property: string): TypeMetadata | undefined } =
  defaultMetadataStorage;
/** Types that TypeScript writes for fields that hold no class of the application. */
const PLAIN = new Set<unknown>([Object, Array, String, Number, Boolean, BigInt, Symbol, Date, Map, Set, Promise]);

/**
 * The `@Type` of a field, or its declared class: an application with another copy of class-transformer has its `@Type`s
 * there, where they are out of sight. Undefined if neither names a class.
 */
export function nestedClasses(dto: DtoClass, property: string): NestedClasses | undefined {
  const found = storage.findTypeMetadata(dto, property) ?? declared(dto, property);
  if (!found) return undefined;
  const { discriminator } = found.options;
  if (!discriminator) return { kind: 'one', type: found.typeFunction() as DtoClass };
  const types = discriminator.subTypes.map(({ name, value }) => ({ name, value: value as DtoClass }));
  return { kind: 'choice', property: discriminator.property, types };
}

/** Registers the declared class of a field as its `@Type`, so that its values become instances. */
function declared(dto: DtoClass, property: string): TypeMetadata | undefined {
  const type: unknown = Reflect.getMetadata('design:type', dto.prototype as object, property);
  if (typeof type !== 'function' || PLAIN.has(type)) return undefined;
  Type(() => type)(dto.prototype as object, property);
  return storage.findTypeMetadata(dto, property);
}

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

type Converters = NonNullable<NonNullable<Parameters<typeof targetConstructorToSchema>[1]>['additionalConverters']>;
type Constraints = readonly unknown[];

/**
 * Corrections of class-validator-jsonschema 5. It merges the types of all decorators of a property, so a decorator
 * without a type must not set one. It is sometimes stricter than class-validator and would reject valid values.
 * class-validator still checks every omitted constraint.
 */
const CORRECTIONS: Converters = {
  [validators.IS_NOT_EMPTY]: {},
  [validators.IS_DATE_STRING]: { type: 'string' },
  [validators.IS_ISO8601]: { type: 'string' },
  [validators.IS_NUMBER_STRING]: { type: 'string' },
  [validators.IS_URL]: { type: 'string' },
  [validators.IS_ENUM]: ({ constraints }) => oneOf((constraints as Constraints)[1] as unknown[]),
  [validators.IS_IN]: ({ constraints }) => oneOf((constraints as Constraints)[0] as unknown[]),
  [validators.IS_NOT_IN]: ({ constraints }) => ({ not: { enum: (constraints as Constraints)[0] as unknown[] } }),
  [validators.IS_IP]: ({ constraints }) => addressOf((constraints as Constraints)[0]),
  [validators.CONTAINS]: ({ constraints }) => ({
    type: 'string',
    pattern: literally((constraints as Constraints)[0]),
  }),
  [validators.NOT_CONTAINS]: ({ constraints }) => ({
    type: 'string',
    not: { pattern: literally((constraints as Constraints)[0]) },
  }),
  [validators.MATCHES]: ({ constraints }) => patternOf((constraints as readonly RegExp[])[0]!),
};

/** @param refer schema of a property with nested classes */
export function dtoConverters(refer: (property: string) => JsonSchema): Converters {
  return { ...CORRECTIONS, [validators.ValidationTypes.NESTED_VALIDATION]: ({ propertyName }) => refer(propertyName) };
}

/** Some models require the type beside the values. */
function oneOf(values: unknown[]): Record<string, unknown> {
  const types = new Set(values.map((value) => typeof value));
  const [type = ''] = types;
  const isPlain = types.size === 1 && ['string', 'number', 'boolean'].includes(type);
  return { ...(isPlain && { type }), enum: values };
}

function literally(text: unknown): string {
  return String(text).replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);
}

function addressOf(version: unknown): Record<string, unknown> {
  if (version === undefined) return { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] };
  return { type: 'string', format: `ipv${version as string}` };
}

/** JSON Schema patterns have no flags; they are compiled with the `u` flag. */
function patternOf({ source, flags }: RegExp): Record<string, unknown> {
  const isSame = /^[gu]*$/.test(flags) && isUnicode(source);
  return { type: 'string', ...(isSame && { pattern: source }) };
}

function isUnicode(source: string): boolean {
  try {
    return new RegExp(source, 'u').source === source;
  } catch {
    return false;
  }
}

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
