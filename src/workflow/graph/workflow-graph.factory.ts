import { AppError, messageOf } from '../../errors/index.js';
import { nearNames } from '../../kernel/text/index.js';
import type { Condition, Template } from '../definition/condition.schema.js';
import type { NodeDefinition, WorkDefinition } from '../definition/node.schema.js';
import type { WorkflowDefinition } from '../definition/workflow.schema.js';
import { compileCondition } from '../template/condition.policy.js';
import { compileTemplate } from '../template/template.parser.js';
import { exclusiveStreamsOf, ownSessionsOf } from './exclusive-stream.policy.js';
import type { Edge, GraphNode, WorkflowGraph } from './workflow-graph.types.js';

const OF_ITEMS: readonly string[] = ['item', 'index'];

/** Distinct roots of a node's placeholders. @throws AppError `WORKFLOW_INVALID` */
function rootsOf(node: NodeDefinition): string[] {
  switch (node.type) {
    case 'branch':
      return unique(node.cases.flatMap(({ when }) => [when].flat().flatMap((one) => compileCondition(one).roots)));
    case 'map':
      return unique([...inTemplates([node.over]), ...inWork(node.node).filter((root) => !OF_ITEMS.includes(root))]);
    case 'llm':
    case 'agent':
    case 'tool':
    case 'code':
    case 'human':
      return inWork(node);
  }
}

function inWork(work: WorkDefinition): string[] {
  switch (work.type) {
    case 'llm':
      return inTemplates([work.prompt, work.instructions]);
    case 'agent':
      return inTemplates([work.message ?? '{{input}}']);
    case 'tool':
    case 'code':
      return inTemplates([work.arguments]);
    case 'human':
      return inTemplates([work.question, work.show ?? null]);
  }
}

function inTemplates(templates: readonly Template[]): string[] {
  return unique(templates.flatMap((template) => compileTemplate(template).roots));
}

function unique(roots: readonly string[]): string[] {
  return [...new Set(roots)];
}

/**
 * @throws AppError `WORKFLOW_INVALID` with all faults of one kind: unknown ids, cycles, or placeholders that do not
 *   name an earlier node
 */
export function createGraph(definition: WorkflowDefinition): WorkflowGraph {
  const mistakes = new MistakeList(definition);
  const edges = edgesOf(definition, mistakes);
  mistakes.refuse();
  const order = orderOf(definition, edges, mistakes);
  mistakes.refuse();
  const ancestors = ancestorsOf(order, edges);
  assertPlaces(definition, ancestors, mistakes);
  mistakes.refuse();
  const nodes = new Map(
    definition.nodes.map((node, index): [string, GraphNode] => {
      const incoming = edges.filter(({ to }) => to === node.id);
      return [node.id, { definition: node, number: index + 1, incoming }];
    }),
  );
  const descendants = new Map(
    order.map((id) => [id, new Set(order.filter((other) => ancestors.get(other)!.has(id)))] as const),
  );
  const ordered = { nodes, order, ancestors };
  const [soloists, ownSessions] = [exclusiveStreamsOf(ordered), ownSessionsOf(ordered)];
  return { definition, nodes, edges, descendants, soloists, ownSessions };
}

/** A fault of a workflow. */
export interface WorkflowMistake {
  readonly message: string;
  /** The faulty node. */
  readonly node?: string;
}

/** Collects the faults of a workflow, to report them together. */
class MistakeList {
  private readonly found: WorkflowMistake[] = [];
  readonly ids: ReadonlySet<string>;

  constructor(private readonly definition: WorkflowDefinition) {
    const all = definition.nodes.map(({ id }) => id);
    this.ids = new Set(all);
    const twice = [...this.ids].filter((id) => all.indexOf(id) !== all.lastIndexOf(id));
    for (const id of twice) this.add(`there are two nodes "${id}": rename one`, id);
    this.refuse();
  }

  /** @param node the faulty node; omitted for a fault of the workflow */
  add(message: string, node?: string): void {
    this.found.push({ message, ...(node !== undefined && { node }) });
  }

  /** Adds a fault if the node does not exist. */
  assertNode(by: NodeDefinition, field: string, id: string): void {
    if (this.ids.has(id)) return;
    const near = nearNames(id, this.ids);
    const hint = near.length > 0 ? `; did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : '';
    this.add(`node "${by.id}": ${field}: there is no node "${id}"${hint}`, by.id);
  }

  refuse(): void {
    if (this.found.length === 0) return;
    const lines = this.found.map(({ message }) => `\n- ${message}`).join('');
    throw new AppError('WORKFLOW_INVALID', `The workflow "${this.definition.name}" is wrong:${lines}`, {
      details: { mistakes: this.found },
    });
  }
}

function edgesOf({ nodes }: WorkflowDefinition, mistakes: MistakeList): Edge[] {
  const chosen = nodes.flatMap((node) => choices(node, mistakes));
  const targets = new Set(chosen.map(({ to }) => to));
  const followed = nodes.flatMap((node) => befores(node, targets.has(node.id), mistakes));
  return [...followed, ...chosen];
}

/** The branch and fallback edges of a node. */
function choices(node: NodeDefinition, mistakes: MistakeList): Edge[] {
  const edges: Edge[] = [];
  const add = (field: string, edge: Omit<Edge, 'from'>): void => {
    mistakes.assertNode(node, field, edge.to);
    edges.push({ from: node.id, ...edge });
  };
  if (node.type === 'branch') {
    for (const [index, { when, to }] of node.cases.entries())
      add(`cases[${index}].to`, { to, kind: 'branch', label: [when].flat().map(toWords).join(' and ') });
    if (node.otherwise !== undefined) add('otherwise', { to: node.otherwise, kind: 'branch', label: 'otherwise' });
  }
  if (node.onError !== 'fail') add('onError.fallback', { to: node.onError.fallback, kind: 'fallback' });
  return edges;
}

/**
 * Edges from the predecessors of a node: `after`, or, if no branch or fallback leads to it, the nodes that its
 * placeholders name.
 */
function befores(node: NodeDefinition, isTarget: boolean, mistakes: MistakeList): Edge[] {
  const declared = node.after;
  for (const [index, id] of (declared ?? []).entries()) mistakes.assertNode(node, `after[${index}]`, id);
  const before = declared ?? (isTarget ? [] : placesOf(node, mistakes).filter((root) => mistakes.ids.has(root)));
  return [...new Set(before)].map((from) => ({ from, to: node.id, kind: 'next' }));
}

function placesOf(node: NodeDefinition, mistakes: MistakeList): string[] {
  try {
    return rootsOf(node);
  } catch (error) {
    mistakes.add(`node "${node.id}": ${messageOf(error)}`, node.id);
    return [];
  }
}

/** Topological order of the nodes. */
function orderOf({ nodes }: WorkflowDefinition, edges: readonly Edge[], mistakes: MistakeList): string[] {
  const order: string[] = [];
  let left = nodes.map(({ id }) => id);
  while (left.length > 0) {
    const isReady = (id: string): boolean => !edges.some(({ from, to }) => to === id && left.includes(from));
    const ready = left.filter(isReady);
    if (ready.length === 0) {
      mistakes.add(`its nodes go in a circle: ${circleIn(left, edges).join(' → ')}`);
      break;
    }
    order.push(...ready);
    left = left.filter((id) => !ready.includes(id));
  }
  return order;
}

/** Finds a cycle among nodes that each have a predecessor in the list. */
function circleIn(left: readonly string[], edges: readonly Edge[]): string[] {
  const cycle = [left[0]!];
  for (;;) {
    const before = edges.find(({ from, to }) => to === cycle[0] && left.includes(from))!.from;
    const at = cycle.indexOf(before);
    if (at >= 0) return [before, ...cycle.slice(0, at + 1)];
    cycle.unshift(before);
  }
}

function ancestorsOf(order: readonly string[], edges: readonly Edge[]): Map<string, ReadonlySet<string>> {
  const ancestors = new Map<string, ReadonlySet<string>>();
  for (const id of order) {
    const parents = edges.filter(({ to }) => to === id).map(({ from }) => from);
    ancestors.set(id, new Set(parents.flatMap((parent) => [parent, ...ancestors.get(parent)!])));
  }
  return ancestors;
}

function assertPlaces(
  { nodes, output }: WorkflowDefinition,
  ancestors: ReadonlyMap<string, ReadonlySet<string>>,
  mistakes: MistakeList,
): void {
  for (const node of nodes) {
    for (const root of placesOf(node, mistakes)) {
      if (root === 'input' || ancestors.get(node.id)!.has(root)) continue;
      const why = mistakes.ids.has(root)
        ? ', which does not come before it'
        : ': there is no such node, and the input is {{input}}';
      mistakes.add(`node "${node.id}" names "${root}"${why}`, node.id);
    }
  }
  if (output === undefined) return;
  try {
    const unknown = compileTemplate(output).roots.filter((root) => root !== 'input' && !mistakes.ids.has(root));
    for (const root of unknown) mistakes.add(`output names "${root}": there is no such node`);
  } catch (error) {
    mistakes.add(`output: ${messageOf(error)}`);
  }
}

function toWords({ value, ...rules }: Condition): string {
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return `${shown} ${Object.entries(rules)
    .map(([rule, wanted]) => `${rule} ${JSON.stringify(wanted)}`)
    .join(', ')}`;
}
