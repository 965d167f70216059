import { Type, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';

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
