/** Texts: similar names, terms for search, and secrets that are masked. */
export { editDistance, nearNames, unknownOption } from './near-name.mapper.js';
export { createSecretMask, headerSecrets, maskSecrets, MIN_SECRET_LENGTH, SECRET_HEADER } from './secret.mapper.js';
export { indexTerms, queryTerms } from './term.parser.js';
export { rankByTerms } from './term-ranking.js';
export type { IndexedText } from './term-ranking.js';
export { wellFormed } from './well-formed.mapper.js';
