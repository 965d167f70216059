declare module 'class-transformer/cjs/storage.js' {
  export const defaultMetadataStorage: {
    findTypeMetadata(target: Function, property: string): import('class-transformer').TypeMetadata | undefined;
  };
}
