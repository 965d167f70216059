import type { FileWorkflow, WorkflowReading, WorkflowSet } from './workflow-file.types.js';

/** What files may refer to. */
export interface WorkflowWorld {
  /** Where a workflow of this name is that is in no file. */
  sourceInCode(name: string): string | undefined;
  /** What it names that is not there, one line each. */
  faults(workflow: FileWorkflow): readonly string[];
}

/**
 * Makes workflows of what the files of a folder say. A file that has a mistake, or a name that is given already, keeps the workflow
 * that it had before.
 * @param kept the workflows that the files had before
 */
export function buildWorkflowSet(
  readings: ReadonlyMap<string, WorkflowReading>,
  kept: ReadonlyMap<string, FileWorkflow>,
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
    const clashes = clashesOf(readings.keys(), drafts, kept, world);
    // Whoever keeps its former name may now take one that another file was given.
    if (clashes.size === 0) break;
    for (const [file, mistake] of clashes) {
      mistakes.set(file, [mistake]);
      drafts.delete(file);
    }
  }
  const workflows = [...readings.keys()].flatMap((file) => {
    const workflow = drafts.get(file) ?? kept.get(file);
    return workflow ? [[file, workflow] as const] : [];
  });
  return { workflows: new Map(workflows), mistakes: inOrder(readings, mistakes) };
}

/** The files whose names another one has: those are asked first that had theirs before. */
function clashesOf(
  files: Iterable<string>,
  drafts: ReadonlyMap<string, FileWorkflow>,
  kept: ReadonlyMap<string, FileWorkflow>,
  world: WorkflowWorld,
): Map<string, string> {
  const clashes = new Map<string, string>();
  const owners = new Map<string, string>();
  const isOld = (file: string) => !drafts.has(file) || drafts.get(file)?.name === kept.get(file)?.name;
  for (const file of [...files].toSorted((a, b) => Number(isOld(b)) - Number(isOld(a)))) {
    const workflow = drafts.get(file) ?? kept.get(file);
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
