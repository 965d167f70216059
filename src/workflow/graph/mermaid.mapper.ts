import type { NodeDefinition } from '../definition/node.schema.js';
import type { Edge, WorkflowGraph } from './workflow-graph.types.js';

/** Opening and closing of a node's shape, as Mermaid's flowcharts write it (mermaid.js.org/syntax/flowchart.html). */
const SHAPES: Readonly<Record<NodeDefinition['type'], readonly [string, string]>> = {
  llm: ['([', '])'],
  agent: ['[[', ']]'],
  tool: ['[', ']'],
  code: ['[', ']'],
  branch: ['{', '}'],
  map: ['[/', '/]'],
  human: ['>', ']'],
};

const MAX_LABEL = 60;

/** The graph as a Mermaid flowchart; nodes are numbered, so that no node id can be a Mermaid keyword. */
export function toMermaid({ nodes, edges }: WorkflowGraph): string {
  const numbers = new Map([...nodes].map(([id, { number }]) => [id, `n${number}`]));
  const boxes = [...nodes].map(([id, { definition }]) => {
    const [open, close] = SHAPES[definition.type];
    return `  ${numbers.get(id)}${open}"${escaped(`${id}: ${definition.type}`)}"${close}`;
  });
  const arrows = edges.map((edge) => `  ${numbers.get(edge.from)} ${arrow(edge)} ${numbers.get(edge.to)}`);
  return ['flowchart TD', ...boxes, ...arrows, ''].join('\n');
}

function arrow({ kind, label }: Edge): string {
  switch (kind) {
    case 'next':
      return '-->';
    case 'branch':
      return `-->|"${escaped(label ?? '')}"|`;
    case 'fallback':
      return '-.->|"when it fails"|';
  }
}

/** Escapes text by Mermaid's `#` entities. */
function escaped(text: string): string {
  const short = text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL)}…` : text;
  return short.replaceAll(/[#"&<>`\\\n\r|{}[\]()]/g, (character) => `#${character.codePointAt(0)};`);
}
