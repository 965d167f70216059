/** A file's text, or why it is not read. */
export type TextReading = { readonly text: string } | { readonly fault: string };

/** What stands in a folder of agents or workflows. */
export interface FolderReading {
  /** The files that define something by their names, in the order of these. */
  readonly files: ReadonlyMap<string, TextReading>;
  /** Files beside them that were asked for, by their paths in the folder. */
  readonly others: ReadonlyMap<string, TextReading>;
  /** Names of further files that look like definitions, and have an ending that is not read. */
  readonly unread: readonly string[];
}

/** How it stands with the files of a folder. */
export interface FilesState {
  readonly files: number;
  /** Of those, the ones that are not taken; what they define is what it was before. */
  readonly broken: number;
  /** Whether the folder was there and could be read when it was last looked at. */
  readonly isReadable: boolean;
}
