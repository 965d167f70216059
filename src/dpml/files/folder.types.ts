/** A file's text, or why it is not read. */
export type TextReading = { readonly text: string } | { readonly fault: string };

/** What stands in a folder of agents. */
export interface FolderReading {
  /** The files of agents by their names, in the order of these. */
  readonly files: ReadonlyMap<string, TextReading>;
  /** Files beside them that were asked for, by their paths in the folder. */
  readonly others: ReadonlyMap<string, TextReading>;
}
