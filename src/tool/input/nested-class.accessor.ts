import type { TypeMetadata } from 'class-transformer';
import { createRequire } from 'node:module';

export type DtoClass = new () => object;

/** Class of a nested field: one, or several with a discriminator. */
export type NestedClasses =
  | { readonly kind: 'one'; readonly type: DtoClass }
  | {
      readonly kind: 'choice';
      readonly property: string;
      readonly types: readonly { readonly name: string; readonly value: DtoClass }[];
    };

interface TypeStorage {
  findTypeMetadata(target: Function, property: string): TypeMetadata | undefined;
}

/** class-transformer does not export its metadata storage. */
const { defaultMetadataStorage: storage } = createRequire(import.meta.url)('class-transformer/cjs/storage.js') as {
  readonly defaultMetadataStorage: TypeStorage;
};

/** The `@Type` of a field; undefined if absent. */
export function nestedClasses(dto: DtoClass, property: string): NestedClasses | undefined {
  const found = storage.findTypeMetadata(dto, property);
  if (!found) return undefined;
  const { discriminator } = found.options;
  if (!discriminator) return { kind: 'one', type: found.typeFunction() as DtoClass };
  const types = discriminator.subTypes.map(({ name, value }) => ({ name, value: value as DtoClass }));
  return { kind: 'choice', property: discriminator.property, types };
}
