/** What the user said, and what the model may do about it. */
export interface OfflineQuestion {
  readonly text: string;
  /** Whether to answer in Chinese. */
  readonly isChinese: boolean;
  /** The last number that was an answer in the conversation, in plain digits. */
  readonly previous?: string;
}

/** One call to make, and how to tell of its result. */
export interface OfflineCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | number>>;
  /** What tells this result from others. */
  readonly name: string;
  /** Tells the result; without it the result speaks for itself. */
  readonly tell?: (result: string) => string;
}

/** What a rule wants done: say something, or call tools. */
export type OfflineAnswer =
  { readonly kind: 'say'; readonly text: string } | { readonly kind: 'call'; readonly calls: readonly OfflineCall[] };

/** Answers a question that it understands, and gives nothing for any other. */
export type OfflineRule = (question: OfflineQuestion) => OfflineAnswer | undefined;
