/** What the user said, and what the model may do about it. */
export interface OfflineQuestion {
  readonly text: string;
  /** Whether to answer in Chinese. */
  readonly isChinese: boolean;
}

/** What a rule wants done: say something, or call a tool. */
export type OfflineAnswer =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly arguments: Readonly<Record<string, string>> };

/** Answers a question that it understands, and gives nothing for any other. */
export type OfflineRule = (question: OfflineQuestion) => OfflineAnswer | undefined;
