import { createRequire } from 'node:module';

/** Jackdaw's own version, as package.json has it. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as {
  readonly version: string;
};
