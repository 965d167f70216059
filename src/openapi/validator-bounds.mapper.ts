import { getMetadataStorage } from 'class-validator';

type Schema = Readonly<Record<string, unknown>>;
/** Metadata of one field, as the plugin of @nestjs/swagger writes it. */
type Field = Readonly<Record<string, unknown>>;

/** Metadata of DTOs: the module and the fields of its classes, by their names. */
export type Models = readonly (readonly [Promise<object>, Readonly<Record<string, Readonly<Record<string, Field>>>>])[];

/** JSON Schema keywords of a field's validators: for its value, and for each item of a list. */
export type Bounds = (dto: string, field: string) => { readonly scalar: Schema; readonly items?: Schema };

/** Keywords of validators with one number. */
const KEYWORDS: Readonly<Record<string, string>> = {
  min: 'minimum',
  max: 'maximum',
  minLength: 'minLength',
  maxLength: 'maxLength',
  arrayMinSize: 'minItems',
  arrayMaxSize: 'maxItems',
};

const NOT_BLANK = String.raw`\S`;
/**
 * A part of `isId` in code units, which the length of a JSON string counts: many validators know no Unicode properties.
 * Letters outside of the Basic Multilingual Plane are two units.
 */
const ID: Schema = {
  minLength: 1,
  maxLength: 256,
  pattern: String.raw`^[^\u0000-\u0020\u007f-\u00a0"#%&'()*+,/;<=>?\[\\\]^\u0060{|}~]+$`,
  example: 'order-4711',
};
/** Epoch ms, or ISO 8601 with a time zone; a pattern cannot exclude days that do not exist. */
const TIME: Schema = {
  pattern: String.raw`^(\d{1,15}|\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?)$`,
  example: '2026-01-31',
};

/**
 * Reads the bounds of validators from class-validator. The plugin reads the source instead, and omits a bound that is a
 * named constant.
 */
export async function validatorBounds(models: Models): Promise<Bounds> {
  const found = new Map<string, { scalar: Record<string, unknown>; items?: Record<string, unknown> }>();
  for (const [loading, classes] of models) {
    const module = (await loading) as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(classes)) {
      for (const rule of rulesOf(module[name])) add(found, `${name}.${rule.field}`, rule);
    }
  }
  return (dto, field) => found.get(`${dto}.${field}`) ?? { scalar: {} };
}

interface Rule {
  readonly field: string;
  readonly isForItems: boolean;
  readonly schema: Schema;
}

function rulesOf(target: unknown): Rule[] {
  if (typeof target !== 'function') return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', true, false);
  return rules.map(({ propertyName, name = '', constraints, each }) => {
    const schema = schemaOf(name, constraints?.[0]);
    return { field: propertyName, isForItems: each, schema };
  });
}

/** @param value the first argument of the validator */
function schemaOf(name: string, value: unknown): Schema {
  const keyword = KEYWORDS[name];
  if (keyword !== undefined) return { [keyword]: value };
  switch (name) {
    case 'isInt':
      return { type: 'integer' };
    case 'isIn':
      return { enum: value };
    case 'arrayUnique':
      return { uniqueItems: true };
    case 'matches':
      return value instanceof RegExp && !value.flags.includes('i') ? { pattern: plainSource(value) } : {};
    case 'isCursor':
      return { pattern: String.raw`^${String(value)}\.[A-Za-z0-9_-]+$` };
    case 'isId':
      return ID;
    case 'isDay':
      return { format: 'date' };
    case 'isTime':
      return TIME;
    default:
      return {};
  }
}

/** Many validators compile patterns without Unicode properties. JSON in UTF-8 has no surrogates alone. */
function plainSource({ source }: RegExp): string {
  return source
    .replaceAll(String.raw`\p{Cc}`, String.raw`\u0000-\u001f\u007f-\u009f`)
    .replaceAll(String.raw`\p{Cs}`, '');
}

/** The schema of a field with one more rule; of two patterns the one that limits more counts. */
function combined(known: Schema = {}, more: Schema): Record<string, unknown> {
  const isWeaker = more['pattern'] === NOT_BLANK && known['pattern'] !== undefined;
  return isWeaker ? { ...known } : { ...known, ...more };
}

function add(
  found: Map<string, { scalar: Record<string, unknown>; items?: Record<string, unknown> }>,
  key: string,
  { schema, isForItems }: Rule,
): void {
  const entry = found.get(key) ?? { scalar: {} };
  found.set(key, entry);
  if (isForItems) entry.items = combined(entry.items, schema);
  else entry.scalar = combined(entry.scalar, schema);
}

/** Adds bounds to the plugin's metadata, from which @nestjs/swagger creates the parameters of queries. */
export function withBounds(plugin: Record<string, object>, models: Models, bounds: Bounds): Record<string, object> {
  const bounded = models.map(([loading, classes]) => [loading, boundedClasses(classes, bounds)]);
  return { ...plugin, '@nestjs/swagger': { ...plugin['@nestjs/swagger'], models: bounded } };
}

function boundedClasses(classes: Models[number][1], bounds: Bounds): object {
  return Object.fromEntries(
    Object.entries(classes).map(([dto, fields]) => [
      dto,
      Object.fromEntries(
        Object.entries(fields).map(([field, metadata]) => [field, { ...metadata, ...bounds(dto, field).scalar }]),
      ),
    ]),
  );
}
