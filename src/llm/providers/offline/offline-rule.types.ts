/** A tool that the model may call. */
export interface OfflineTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly OfflineParameter[];
}

export interface OfflineParameter {
  readonly name: string;
  /** Its JSON type; empty for a schema with several. */
  readonly type: string;
  readonly isRequired: boolean;
}

/** The user's request, and its context. */
export interface OfflineQuestion {
  readonly text: string;
  /** Whether to answer in Chinese. */
  readonly isChinese: boolean;
  /** The last numeric result of the conversation, in plain digits. */
  readonly previous?: string;
  /** The tools, by name. */
  readonly tools: ReadonlyMap<string, OfflineTool>;
  /** Name by which the user introduced themselves in the conversation. */
  readonly userName?: string;
}

/** A planned call, and how to present its result. */
export interface OfflineCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Label of this result among others. */
  readonly name: string;
  /** Text of the result; the result itself by default. */
  readonly describe?: (result: string) => string;
}

/** Output of a rule: a text, or tool calls. */
export type OfflineAnswer =
  { readonly kind: 'say'; readonly text: string } | { readonly kind: 'call'; readonly calls: readonly OfflineCall[] };

/** Handles a matching question; returns undefined for all others. */
export type OfflineRule = (question: OfflineQuestion) => OfflineAnswer | undefined;
