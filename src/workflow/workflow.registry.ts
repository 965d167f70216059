import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../errors/index.js';
import type { NodeDefinition } from './definition/node.schema.js';
import { workflowSchema, type WorkflowDefinition, type WorkflowInput } from './definition/workflow.schema.js';
import { createGraph } from './graph/workflow-graph.factory.js';
import type { WorkflowGraph } from './graph/workflow-graph.types.js';
import { ResolvedWorkFactory } from './resolved-work.factory.js';

/** A workflow with its stored form. */
export interface RegisteredWorkflow {
  readonly graph: WorkflowGraph;
  /** JSON text; equal for equal definitions. */
  readonly content: string;
  /** SHA-256 of the content, in hex. */
  readonly hash: string;
}

interface Declared {
  /** Origin, for messages. */
  readonly source: string;
  readonly resolved: () => RegisteredWorkflow;
}

/** All workflows, by name. */
export class WorkflowRegistry {
  private readonly workflows = new Map<string, Declared>();

  constructor(private readonly work: ResolvedWorkFactory) {}

  /**
   * Registers a workflow. Server-dependent values (model names) are resolved at first use.
   * @param source origin, for error messages
   * @throws AppError `WORKFLOW_INVALID` naming the faults, or both sources of a duplicate name
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

  /** Registers or replaces a workflow; started runs continue with their former definition. */
  replace(input: WorkflowInput, source: string): void {
    const definition = parseWorkflow(input, source);
    createGraph(definition);
    this.set(definition, source);
  }

  unregister(name: string): void {
    this.workflows.delete(name);
  }

  /** Origin of a workflow; undefined if it is not registered. */
  sourceOf(name: string): string | undefined {
    return this.workflows.get(name)?.source;
  }

  names(): readonly string[] {
    return [...this.workflows.keys()];
  }

  list(): readonly RegisteredWorkflow[] {
    return [...this.workflows.values()].map(({ resolved }) => resolved());
  }

  /** @throws AppError `WORKFLOW_NOT_FOUND` naming the known workflows */
  get(name: string): RegisteredWorkflow {
    const workflow = this.workflows.get(name);
    if (workflow) return workflow.resolved();
    const known = [...this.workflows.keys()].join(', ') || 'none';
    throw new AppError('WORKFLOW_NOT_FOUND', `There is no workflow "${name}"; there is: ${known}.`);
  }

  /** Resolves a workflow without registering it, for a single run. @throws AppError as `register` */
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

/** @throws AppError `WORKFLOW_INVALID` naming every invalid field */
export function parseWorkflow(input: unknown, source: string): WorkflowDefinition {
  const parsed = workflowSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { name } = (typeof input === 'object' && input !== null ? input : {}) as { readonly name?: unknown };
  const which = typeof name === 'string' ? `The workflow "${name}"` : 'A workflow';
  throw new AppError('WORKFLOW_INVALID', `${which} (${source}) is wrong:\n${z.prettifyError(parsed.error)}`);
}
