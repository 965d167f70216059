import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../common/index.js';
import type { NodeDefinition } from './definition/node.schema.js';
import { workflowSchema, type WorkflowDefinition, type WorkflowInput } from './definition/workflow.schema.js';
import { createGraph } from './graph/workflow-graph.factory.js';
import type { WorkflowGraph } from './graph/workflow-graph.types.js';
import { ResolvedWorkFactory } from './resolved-work.factory.js';

/** A workflow with its stored form. */
export interface RegisteredWorkflow {
  readonly graph: WorkflowGraph;
  /** JSON text, the same for the same definition. */
  readonly content: string;
  /** SHA-256 of the content, in hex. */
  readonly hash: string;
}

interface Declared {
  /** Where it was declared. */
  readonly source: string;
  readonly resolved: () => RegisteredWorkflow;
}

/** Every workflow by its name. */
export class WorkflowRegistry {
  private readonly workflows = new Map<string, Declared>();

  constructor(private readonly work: ResolvedWorkFactory) {}

  /**
   * What depends on the server (names of models) is filled in when the workflow is first looked at.
   * @param source where it was declared, for errors
   * @throws AppError `WORKFLOW_INVALID` naming every mistake, or both places of a name
   */
  register(input: WorkflowInput, source = 'code'): void {
    const definition = parseWorkflow(input, source);
    const other = this.workflows.get(definition.name);
    if (other) {
      const places = `${other.source} and ${source}`;
      throw new AppError('WORKFLOW_INVALID', `Two workflows are named "${definition.name}": ${places}; rename one.`);
    }
    createGraph(definition);
    this.set(definition, source);
  }

  /** The same for one that may take the place of another of its name: runs that have begun go on as what they were. */
  replace(input: WorkflowInput, source: string): void {
    const definition = parseWorkflow(input, source);
    createGraph(definition);
    this.set(definition, source);
  }

  unregister(name: string): void {
    this.workflows.delete(name);
  }

  /** Where the workflow of this name was declared; nothing when there is none. */
  sourceOf(name: string): string | undefined {
    return this.workflows.get(name)?.source;
  }

  names(): readonly string[] {
    return [...this.workflows.keys()];
  }

  list(): readonly RegisteredWorkflow[] {
    return [...this.workflows.values()].map(({ resolved }) => resolved());
  }

  /** @throws AppError `WORKFLOW_NOT_FOUND` naming those there are */
  get(name: string): RegisteredWorkflow {
    const workflow = this.workflows.get(name);
    if (workflow) return workflow.resolved();
    const known = [...this.workflows.keys()].join(', ') || 'none';
    throw new AppError('WORKFLOW_NOT_FOUND', `There is no workflow "${name}"; there is: ${known}.`);
  }

  /** One that is not one of these, to be run once. @throws AppError as `register` */
  define(input: WorkflowInput): RegisteredWorkflow {
    return this.complete(parseWorkflow(input, 'code'));
  }

  private set(definition: WorkflowDefinition, source: string): void {
    let made: RegisteredWorkflow | undefined;
    this.workflows.set(definition.name, { source, resolved: () => (made ??= this.complete(definition)) });
  }

  private complete(definition: WorkflowDefinition): RegisteredWorkflow {
    const { name } = definition;
    const nodes = definition.nodes.map((node, index): NodeDefinition => {
      const place = { workflow: name, node: node.id, number: index + 1 };
      if (node.type === 'branch') return node;
      if (node.type === 'map') return { ...node, node: this.work.create(node.node, place) };
      return { ...node, ...this.work.create(node, place) };
    });
    const resolved = { ...definition, nodes };
    const content = JSON.stringify(resolved);
    const hash = createHash('sha256').update(content).digest('hex');
    return { graph: createGraph(resolved), content, hash };
  }
}

/** @throws AppError `WORKFLOW_INVALID` naming every field that is wrong */
export function parseWorkflow(input: unknown, source: string): WorkflowDefinition {
  const parsed = workflowSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { name } = (typeof input === 'object' && input !== null ? input : {}) as { readonly name?: unknown };
  const which = typeof name === 'string' ? `The workflow "${name}"` : 'A workflow';
  throw new AppError('WORKFLOW_INVALID', `${which} (${source}) is wrong:\n${z.prettifyError(parsed.error)}`);
}
