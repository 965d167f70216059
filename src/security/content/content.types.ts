/** Built-in classes of sensitive content. */
export const CONTENT_CLASSES = ['secrets', 'cards', 'ids', 'emails'] as const;
export type ContentClass = (typeof CONTENT_CLASSES)[number];

/** Filtered places: user input, tool results, output to users. */
export const CONTENT_PLACES = ['input', 'results', 'output'] as const;
export type ContentPlace = (typeof CONTENT_PLACES)[number];

/** Action on a finding: none, mask the finding, or block the whole text. */
export const CONTENT_ACTIONS = ['off', 'mask', 'block'] as const;
export type ContentAction = (typeof CONTENT_ACTIONS)[number];

/** Action by place; default `off`. */
export type ContentActions = Readonly<Partial<Record<ContentPlace, ContentAction>>>;

/** A custom pattern: a regular expression in RE2 syntax, matched in linear time. */
export interface OwnPattern extends ContentActions {
  /** Name in masks and reasons: 1 to 32 of a-z 0-9 _ -. */
  readonly name: string;
  readonly pattern: string;
}

/** Filter rules: classes and custom patterns with their actions. */
export interface ContentRules extends Readonly<Partial<Record<ContentClass, ContentActions>>> {
  readonly patterns?: readonly OwnPattern[];
}

/** Position of a finding, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds the content of its kind in a text, in order, in linear time. */
export interface Finder {
  (text: string): readonly Span[];
  /** Maximum length of a finding in code points, for a bounded pattern without anchors. */
  readonly reach?: number;
}
