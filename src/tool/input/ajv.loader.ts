import { createRequire } from 'node:module';

type Ajv = typeof import('ajv/dist/2020.js');
type Formats = typeof import('ajv-formats');

export interface LoadedAjv {
  readonly Ajv2020: Ajv['Ajv2020'];
  readonly addFormats: Formats['default'];
  /** Validates schemas; compiles none. */
  readonly metaschema: InstanceType<Ajv['Ajv2020']>;
}

let loaded: LoadedAjv | undefined;

/** Loads ajv on first use (40 ms). Synchronous, since schemas are compiled synchronously. */
export function ajv(): LoadedAjv {
  return (loaded ??= load());
}

function load(): LoadedAjv {
  const require = createRequire(import.meta.url);
  const { Ajv2020 } = require('ajv/dist/2020.js') as Ajv;
  const { default: addFormats } = require('ajv-formats') as Formats;
  return { Ajv2020, addFormats, metaschema: new Ajv2020({ strict: false, logger: false }) };
}
