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

/** Context for the files: workflows and targets outside of them. */
export interface WorkflowWorld {
  /** Place of a workflow of this name that is not defined in a file. */
  sourceInCode(name: string): string | undefined;
  /** Missing targets of a workflow, one per line. */
  faults(workflow: FileWorkflow): readonly string[];
}

/**
 * Builds the workflows of a folder. A file with a mistake or a duplicate name retains its former workflow.
 * @param former former workflows of the files
 */
export function buildWorkflowSet(
  readings: ReadonlyMap<string, WorkflowReading>,
  former: ReadonlyMap<string, FileWorkflow>,
  world: WorkflowWorld,
): WorkflowSet {
  const mistakes = new Map<string, readonly string[]>();
  const drafts = new Map<string, FileWorkflow>();
  for (const [file, reading] of readings) {
    const faults = 'mistakes' in reading ? reading.mistakes : world.faults(reading.workflow);
    if (faults.length > 0) mistakes.set(file, faults);
    else if ('workflow' in reading) drafts.set(file, reading.workflow);
  }
  for (;;) {
    const clashes = clashesOf(readings.keys(), drafts, former, world);
    // A file that retains its former name may now clash with another file: check again.
    if (clashes.size === 0) break;
    for (const [file, mistake] of clashes) {
      mistakes.set(file, [mistake]);
      drafts.delete(file);
    }
  }
  const workflows = [...readings.keys()].flatMap((file) => {
    const workflow = drafts.get(file) ?? former.get(file);
    return workflow ? [[file, workflow] as const] : [];
  });
  return { workflows: new Map(workflows), mistakes: inOrder(readings, mistakes) };
}

/** Files with a duplicate name. Files that already had their name take precedence. */
function clashesOf(
  files: Iterable<string>,
  drafts: ReadonlyMap<string, FileWorkflow>,
  former: ReadonlyMap<string, FileWorkflow>,
  world: WorkflowWorld,
): Map<string, string> {
  const clashes = new Map<string, string>();
  const owners = new Map<string, string>();
  const isOld = (file: string) => !drafts.has(file) || drafts.get(file)?.name === former.get(file)?.name;
  for (const file of [...files].toSorted((a, b) => Number(isOld(b)) - Number(isOld(a)))) {
    const workflow = drafts.get(file) ?? former.get(file);
    if (!workflow) continue;
    const { name, place } = workflow;
    const other = owners.get(name) ?? world.sourceInCode(name);
    if (other === undefined) owners.set(name, place);
    else if (drafts.has(file))
      clashes.set(file, `${place}: two workflows are named "${name}": here and ${other}; rename one`);
  }
  return clashes;
}

function inOrder<T>(readings: ReadonlyMap<string, unknown>, values: ReadonlyMap<string, T>): Map<string, T> {
  return new Map(
    [...readings.keys()].flatMap((file) => (values.has(file) ? [[file, values.get(file)!] as const] : [])),
  );
}
