/** What the filter knows how to find. */
export const CONTENT_CLASSES = ['secrets', 'cards', 'ids', 'emails'] as const;
export type ContentClass = (typeof CONTENT_CLASSES)[number];

/** Where it looks: what users say, what tools give, what the model says to users. */
export const CONTENT_PLACES = ['input', 'results', 'output'] as const;
export type ContentPlace = (typeof CONTENT_PLACES)[number];

/** What becomes of a finding: nothing; a mark stands in its place; the text that holds it goes no further. */
export const CONTENT_ACTIONS = ['off', 'mask', 'block'] as const;
export type ContentAction = (typeof CONTENT_ACTIONS)[number];

/** By place; what is left out is `off`. */
export type ContentActions = Readonly<Partial<Record<ContentPlace, ContentAction>>>;

/** A pattern of one's own: a regular expression in RE2's syntax, which is matched in linear time. */
export interface OwnPattern extends ContentActions {
  /** Stands in masks and reasons: 1 to 32 of a-z 0-9 _ -. */
  readonly name: string;
  readonly pattern: string;
}

/** What is looked for, and what becomes of it where. */
export interface ContentRules extends Readonly<Partial<Record<ContentClass, ContentActions>>> {
  readonly patterns?: readonly OwnPattern[];
}

/** Where something was found, in UTF-16 units; `end` is the first unit after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds the content of its kind in a text, in order, in time that grows no faster than the text. */
export interface Finder {
  (text: string): readonly Span[];
  /** The most characters (code points) of a finding, for a pattern that has a bound and no anchors. */
  readonly reach?: number;
}
