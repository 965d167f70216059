/** Text of a file, or the reason why it cannot be read. */
export type TextReading = { readonly text: string } | { readonly fault: string };

/** Content of a folder of agents or workflows. */
export interface FolderReading {
  /** Definition files by name, in order of their names. */
  readonly files: ReadonlyMap<string, TextReading>;
  /** Requested other files, by their paths in the folder. */
  readonly others: ReadonlyMap<string, TextReading>;
  /** Names of files that look like definitions but have an unsupported extension. */
  readonly unread: readonly string[];
}

/** Status of the files of a folder. */
export interface FilesState {
  readonly files: number;
  /** Number of invalid files; their former definitions stay in use. */
  readonly broken: number;
  /** Whether the folder was readable at the last check. */
  readonly isReadable: boolean;
}
