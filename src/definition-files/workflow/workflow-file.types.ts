import type { WorkflowInput, WorkflowMistake } from '../../workflow/index.js';
import type { FolderReading } from '../files/folder.types.js';

/** A workflow defined in a file. */
export interface FileWorkflow {
  readonly name: string;
  readonly input: WorkflowInput;
  /** Position of its name: `file:line:column`. */
  readonly place: string;
  /** Formats a mistake with the position of its node. */
  readonly describe: (mistake: WorkflowMistake) => string;
}

/** Content of a file, or all its mistakes, one per line. */
export type WorkflowReading = { readonly workflow: FileWorkflow } | { readonly mistakes: readonly string[] };

/** Content of a folder of workflows, raw and parsed. */
export interface FolderWorkflows {
  readonly reading: FolderReading;
  /** By file path, as in messages. */
  readonly readings: ReadonlyMap<string, WorkflowReading>;
}

/** Workflows and mistakes of a folder's files. */
export interface WorkflowSet {
  /** By file path; an invalid file retains its former workflow, if any. */
  readonly workflows: ReadonlyMap<string, FileWorkflow>;
  readonly mistakes: ReadonlyMap<string, readonly string[]>;
}
