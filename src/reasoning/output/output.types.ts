/** An answer as a value, or what is wrong with it and where, in words for the model and the user alike. */
export type ParsedOutput =
  | { readonly kind: 'valid'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly problem: string }
  /** The check itself came to no end: another answer would not help. */
  | { readonly kind: 'unchecked'; readonly problem: string };
