import type { JsonValue } from '../kernel/index.js';
import type { GivenStep } from '../run/index.js';
import { valueAt } from '../rest-tool/index.js';
import type { NodeDefinition } from './definition/node.schema.js';
import type { NodeDone } from './execution/node-task.types.js';
import type { WorkflowGraph } from './graph/workflow-graph.types.js';

/**
 * Creates the recorded step and the events of a node with a given output.
 * @returns the fault, if a node of its kind cannot have this output
 */
export function recordedNode(graph: WorkflowGraph, id: string, output: JsonValue): GivenStep | string {
  const { definition, number: iteration } = graph.nodes.get(id)!;
  const { maxOutputBytes } = graph.definition.limits;
  const bytes = Buffer.byteLength(JSON.stringify(output));
  if (bytes > maxOutputBytes) return `it has ${bytes} bytes, and limits.maxOutputBytes is ${maxOutputBytes}`;
  const done = doneAs(definition, output);
  if (typeof done === 'string') return done;
  const { type: kind } = definition;
  const about = { node: id, kind, iteration };
  const { next } = done;
  return {
    step: { name: `node:${id}`, kind: 'node', subject: kind, result: JSON.stringify(done) },
    events: [
      { type: 'node.started', ...about },
      { type: 'node.completed', ...about, status: 'completed', output: done.output, ...(next && { next }) },
    ],
  };
}

function doneAs(node: NodeDefinition, output: JsonValue): NodeDone | string {
  switch (node.type) {
    case 'branch':
      return goneTo(node, output);
    case 'human':
      return `a person's answer cannot be edited: fork from "node:${node.id}" without it, and answer again`;
    case 'llm':
    case 'agent':
    case 'tool':
    case 'code':
    case 'map':
      return { status: 'completed', output };
  }
}

/** The result has no case, because no condition selected the target. */
function goneTo(
  { cases, otherwise }: Extract<NodeDefinition, { type: 'branch' }>,
  output: JsonValue,
): NodeDone | string {
  const targets = [...cases.map(({ to }) => to), ...(otherwise === undefined ? [] : [otherwise])];
  const to = valueAt(output, ['to']);
  if (to === null) return { status: 'completed', output: { to, case: null }, next: [] };
  if (typeof to === 'string' && targets.includes(to)) {
    return { status: 'completed', output: { to, case: null }, next: [to] };
  }
  return `of a branch it is { "to": … } with one of ${[...new Set(targets)].join(', ')}, or null`;
}
