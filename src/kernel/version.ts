/** Jackdaw's version; a constant, since a bundled application has no package.json of ours. */
export const VERSION = '0.2.0';
