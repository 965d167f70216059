import * as validators from 'class-validator';
import type { targetConstructorToSchema } from 'class-validator-jsonschema';
import type { JsonSchema } from '../../kernel/index.js';

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
