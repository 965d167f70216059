import { createRequire } from 'node:module';

/** Jackdaw's version from package.json. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as {
  readonly version: string;
};
