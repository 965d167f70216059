/** Content of an agent file, before inheritance. */
export interface AgentDraft {
  readonly format: 'xml' | 'json';
  readonly name: string;
  readonly extends?: string;
  /** A partial `AgentDefinitionInput`. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Position of a value or its nearest ancestor: `file:line:column`. */
  placeOf(path: readonly PropertyKey[]): string;
}

/** A draft, or all mistakes of the text, one per line. */
export type DraftReading = { readonly draft: AgentDraft } | { readonly mistakes: readonly string[] };

export interface DraftSource {
  /** Name of the text in messages. */
  readonly file: string;
  readonly text: string;
  /** Values of the variables that the text may declare. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file in the same folder. @throws AppError if it cannot be read */
  readonly include: (path: string) => string;
}
