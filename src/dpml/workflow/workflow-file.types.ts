import type { WorkflowInput, WorkflowMistake } from '../../workflow/index.js';
import type { FolderReading } from '../files/folder.types.js';

/** A workflow that a file describes. */
export interface FileWorkflow {
  readonly name: string;
  readonly input: WorkflowInput;
  /** Where it says its name: `file:line:column`. */
  readonly place: string;
  /** A mistake with where the file says the node that it is about. */
  readonly told: (mistake: WorkflowMistake) => string;
}

/** What a file says, or all that is wrong with it, one line each. */
export type WorkflowReading = { readonly workflow: FileWorkflow } | { readonly mistakes: readonly string[] };

/** What stands in a folder of workflows, and what it says. */
export interface FolderWorkflows {
  readonly reading: FolderReading;
  /** By the files' paths, as messages have them. */
  readonly readings: ReadonlyMap<string, WorkflowReading>;
}

/** What the files of a folder come to. */
export interface WorkflowSet {
  /** By the files' paths; of a file with mistakes it is the workflow that it had before, if it had one. */
  readonly workflows: ReadonlyMap<string, FileWorkflow>;
  readonly mistakes: ReadonlyMap<string, readonly string[]>;
}
