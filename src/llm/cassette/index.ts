/** Cassettes: recorded replies of models, without secrets and personal data. */
export { Cassette } from './cassette.js';
export { MaskedLines } from './masked-lines.builder.js';
export { withoutPersonalData } from './personal-data.mapper.js';
export { ConfiguredCassette } from './configured-cassette.js';
export type { CassetteOptions } from './cassette.js';
