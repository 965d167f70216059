/** An answer as a value, or its problem with the location, as text for the model and the user. */
export type ParsedOutput =
  | { readonly kind: 'valid'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly problem: string }
  /** The check did not complete; another answer would not help. */
  | { readonly kind: 'unchecked'; readonly problem: string };
