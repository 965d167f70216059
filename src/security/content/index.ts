/** Content rules: classes of personal data and secrets, and filters of texts, arguments and streams. */
export { admit, type Admitted, classRule, ContentFilter, type ContentRule, type Filtered } from './content.filter.js';
export { CONTENT_ACTIONS, CONTENT_CLASSES, CONTENT_PLACES } from './content.types.js';
export type { ContentAction, ContentClass, ContentPlace, ContentRules, Finder, OwnPattern } from './content.types.js';
export { FilteredStream } from './filtered-stream.builder.js';
export { findLinks } from './link.parser.js';
export { createFinders } from './own-pattern.factory.js';
export type { ContentActions } from './content.types.js';
