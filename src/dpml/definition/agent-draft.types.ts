/** What a text says of an agent, before it has what it inherits. */
export interface AgentDraft {
  readonly format: 'xml' | 'json';
  readonly name: string;
  readonly extends?: string;
  /** As in an `AgentDefinitionInput`, of which it may lack anything. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Where the text says it, `file:line:column`; the nearest place that it has. */
  placeOf(path: readonly PropertyKey[]): string;
}

/** A draft, or all that is wrong with the text, one line each. */
export type DraftReading = { readonly draft: AgentDraft } | { readonly mistakes: readonly string[] };

export interface DraftSource {
  /** What the text is called in messages. */
  readonly file: string;
  readonly text: string;
  /** The values of the variables that the text may declare. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file beside it. @throws AppError why it is not read */
  readonly include: (path: string) => string;
}
