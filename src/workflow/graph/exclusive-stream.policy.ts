import type { Edge, GraphNode } from './workflow-graph.types.js';

interface Ordered {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Topological order. */
  readonly order: readonly string[];
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Choices common to all paths to a node: the deciding node, and its choice. */
type Choices = ReadonlyMap<string, string>;

/**
 * The llm nodes with an exclusive stream: no other model node can execute at the same time, because a run streams one
 * message at a time. Of any two, one comes after the other, or a branch leads to only one of them.
 */
export function exclusiveStreamsOf(graph: Ordered): Set<string> {
  const { nodes, order } = graph;
  const isApart = apartIn(graph);
  const speakers = order.filter((id) => speaks(nodes.get(id)!));
  return new Set(
    speakers
      .filter((id) => nodes.get(id)!.definition.type === 'llm')
      .filter((id) => speakers.every((other) => other === id || isApart(id, other))),
  );
}

/**
 * The nodes that do not continue their agent's session. An earlier node of the list may ask the same agent at the same
 * time. The definition, not the execution order, determines the session of a question.
 */
export function ownSessionsOf(graph: Ordered): Set<string> {
  const isApart = apartIn(graph);
  const agentNodes = [...graph.nodes].flatMap(([id, node]) => {
    const agentName = agentOf(node);
    return agentName === undefined ? [] : [{ id, agentName }];
  });
  const isBeside = ({ id, agentName }: (typeof agentNodes)[number], at: number): boolean =>
    agentNodes.slice(0, at).some((earlier) => earlier.agentName === agentName && !isApart(earlier.id, id));
  return new Set(agentNodes.filter(isBeside).map(({ id }) => id));
}

/** The agent that a node asks, or the tool, which may be an agent. */
function agentOf({ definition }: GraphNode): string | undefined {
  if (definition.type === 'tool') return `tool ${definition.tool}`;
  if (definition.type !== 'agent') return undefined;
  return typeof definition.agent === 'string' ? `agent ${definition.agent}` : undefined;
}

/** Whether two nodes are never executed at the same time. */
function apartIn({ nodes, order, ancestors }: Ordered): (one: string, other: string) => boolean {
  const choices = choicesOf(order, nodes);
  return (one, other) =>
    ancestors.get(one)!.has(other) ||
    ancestors.get(other)!.has(one) ||
    isExclusive(choices.get(one)!, choices.get(other)!);
}

function speaks({ definition }: GraphNode): boolean {
  return definition.type === 'llm' || (definition.type === 'map' && definition.node.type === 'llm');
}

function isExclusive(one: Choices, other: Choices): boolean {
  return [...one].some(([by, to]) => other.has(by) && other.get(by) !== to);
}

/** The choices that all paths to a node have in common. */
function choicesOf(order: readonly string[], nodes: ReadonlyMap<string, GraphNode>): ReadonlyMap<string, Choices> {
  const choices = new Map<string, Choices>();
  for (const id of order) {
    const paths = nodes.get(id)!.incoming.map((edge) => along(edge, choices));
    const [first = new Map<string, string>(), ...rest] = paths;
    const common = [...first].filter(([by, to]) => rest.every((path) => path.get(by) === to));
    choices.set(id, new Map(common));
  }
  return choices;
}

function along({ from, to, kind }: Edge, choices: ReadonlyMap<string, Choices>): Choices {
  const before = choices.get(from)!;
  // Edges other than a fallback are taken only after success.
  if (kind === 'fallback') return new Map([...before, [`${from}!`, 'failed']]);
  const succeeded = new Map([...before, [`${from}!`, 'done']]);
  return kind === 'branch' ? succeeded.set(from, to) : succeeded;
}
