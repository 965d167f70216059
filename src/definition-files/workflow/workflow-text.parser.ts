import type { z } from 'zod';
import { AppError, messageOf } from '../../errors/index.js';
import { createGraph, workflowSchema, type WorkflowInput, type WorkflowMistake } from '../../workflow/index.js';
import { type JsonPlace, JsonTextError, offsetOf, parseJsonText } from '../json/json-text.parser.js';
import { TextPlaces } from '../xml/xml.parser.js';
import type { FileWorkflow, WorkflowReading } from './workflow-set.builder.js';

/** Maximum number of values in a file, far above that of a real workflow. */
const MAX_VALUES = 200_000;
/** Maximum number of reported mistakes. */
const MAX_MISTAKES = 100;

/** Parses a workflow in JSON; `$schema` is ignored. @param file name of the text in messages */
export function readWorkflowText(file: string, text: string): WorkflowReading {
  const places = new TextPlaces(file, text);
  try {
    const { value, place } = parseJsonText(text, MAX_VALUES);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { mistakes: [`${places.at(place.offset)}: expected an object: { "name": "…", "nodes": […] }`] };
    }
    const { $schema: _passedOver, ...input } = value as Record<string, unknown>;
    return new WorkflowReader(places, place).read(input);
  } catch (error) {
    if (error instanceof JsonTextError) return { mistakes: [`${places.at(error.offset)}: ${error.message}`] };
    throw error;
  }
}

class WorkflowReader {
  constructor(
    private readonly places: TextPlaces,
    private readonly place: JsonPlace,
  ) {}

  read(input: Record<string, unknown>): WorkflowReading {
    const read = workflowSchema.safeParse(input);
    if (!read.success) {
      const mistakes = read.error.issues.flatMap((issue) => this.mistakesOf(issue));
      return { mistakes: mistakes.slice(0, MAX_MISTAKES) };
    }
    const ids = read.data.nodes.map(({ id }) => id);
    const describe = ({ message, node }: WorkflowMistake): string =>
      // Of two nodes with the same id, the later one is the duplicate.
      `${this.placeOf(node === undefined ? [] : ['nodes', ids.lastIndexOf(node)])}: ${message}`;
    const { name } = read.data;
    const workflow: FileWorkflow = { name, input: input as WorkflowInput, place: this.placeOf(['name']), describe };
    try {
      createGraph(read.data);
      return { workflow };
    } catch (error) {
      return { mistakes: mistakesIn(error).map(describe) };
    }
  }

  private mistakesOf(issue: z.core.$ZodIssue): string[] {
    const { path } = issue;
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => this.located([...path, key], 'there is no such field'));
    }
    const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
    return [this.located(path, isMissing ? `${issue.message}: it is missing` : issue.message)];
  }

  private located(path: readonly PropertyKey[], fault: string): string {
    return `${this.placeOf(path)}: ${path.length > 0 ? `${path.join('.')}: ` : ''}${fault}`;
  }

  private placeOf(path: readonly PropertyKey[]): string {
    return this.places.at(offsetOf(this.place, path));
  }
}

/** Mistakes in the error of an invalid graph. */
function mistakesIn(error: unknown): readonly WorkflowMistake[] {
  const reported = error instanceof AppError ? error.details?.['mistakes'] : undefined;
  return (reported as readonly WorkflowMistake[] | undefined) ?? [{ message: messageOf(error) }];
}
