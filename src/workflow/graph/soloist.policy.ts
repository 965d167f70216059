import type { Edge, GraphNode } from './workflow-graph.types.js';

interface Ordered {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** So that each comes after those that lead to it. */
  readonly order: readonly string[];
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What had to be chosen for a node to be reached: `from` the node that chose, to what. */
type Choices = ReadonlyMap<string, string>;

/**
 * The nodes of models that speak while no other can, since a run tells one message at a time: of any two, one comes
 * after the other, or a branch leads to only one of them.
 */
export function soloistsOf({ nodes, order, ancestors }: Ordered): Set<string> {
  const choices = choicesOf(order, nodes);
  const speakers = order.filter((id) => speaks(nodes.get(id)!));
  const isApart = (one: string, other: string): boolean =>
    ancestors.get(one)!.has(other) ||
    ancestors.get(other)!.has(one) ||
    isExclusive(choices.get(one)!, choices.get(other)!);
  return new Set(
    speakers
      .filter((id) => nodes.get(id)!.definition.type === 'llm')
      .filter((id) => speakers.every((other) => other === id || isApart(id, other))),
  );
}

function speaks({ definition }: GraphNode): boolean {
  return definition.type === 'llm' || (definition.type === 'map' && definition.node.type === 'llm');
}

function isExclusive(one: Choices, other: Choices): boolean {
  return [...one].some(([by, to]) => other.has(by) && other.get(by) !== to);
}

/** What every way to a node has in common. */
function choicesOf(order: readonly string[], nodes: ReadonlyMap<string, GraphNode>): ReadonlyMap<string, Choices> {
  const choices = new Map<string, Choices>();
  for (const id of order) {
    const ways = nodes.get(id)!.incoming.map((edge) => along(edge, choices));
    const [first = new Map<string, string>(), ...rest] = ways;
    const common = [...first].filter(([by, to]) => rest.every((way) => way.get(by) === to));
    choices.set(id, new Map(common));
  }
  return choices;
}

function along({ from, to, kind }: Edge, choices: ReadonlyMap<string, Choices>): Choices {
  const before = choices.get(from)!;
  // Whatever else follows the node does so when it has not failed.
  if (kind === 'fallback') return new Map([...before, [`${from}!`, 'failed']]);
  const succeeded = new Map([...before, [`${from}!`, 'done']]);
  return kind === 'branch' ? succeeded.set(from, to) : succeeded;
}
