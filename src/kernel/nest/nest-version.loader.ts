import { createRequire } from 'node:module';

/** The version of the application's Nest; `undefined` where its package.json is not found, as in a bundle. */
export function nestVersion(): string | undefined {
  try {
    const load = createRequire(import.meta.url);
    return (load('@nestjs/core/package.json') as { readonly version: string }).version;
  } catch {
    return undefined;
  }
}
