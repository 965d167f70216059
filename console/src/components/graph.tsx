import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n';
import type { Workflow } from '../types';

const NODE = { width: 170, height: 44 };
/** Longest shown name of a node, in UTF-16 units. */
const NAME_LENGTH = 21;

interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly x: number; readonly y: number }[];
  readonly edges: readonly { readonly kind: string; readonly path: string }[];
}

/** A workflow as a graph. A table beside it has the same data for readers of the screen. */
export function Graph({
  nodes,
  edges,
  states,
}: Pick<Workflow, 'nodes' | 'edges'> & { readonly states: ReadonlyMap<string, string> }) {
  const [placed, setPlaced] = useState<Placed>();
  useEffect(() => {
    let isCurrent = true;
    void place(nodes, edges).then((found) => isCurrent && setPlaced(found));
    return () => {
      isCurrent = false;
    };
  }, [nodes, edges]);
  if (!placed) return <p class="empty">{t('loading')}</p>;
  const { width, height } = placed;
  return (
    <div class="scroll card" role="region" aria-label={t('workflows.graph')} tabIndex={0}>
      <svg
        class="graph"
        style={{ width: `${width}px`, minWidth: `${Math.min(width, Math.max(width * 0.6, 560))}px` }}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={t('workflows.graph')}
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0L8 4L0 8z" class="graph-arrow" />
          </marker>
        </defs>
        {placed.edges.map(({ kind, path }) => (
          <path key={path} d={path} class={`graph-edge ${kind}`} marker-end="url(#arrow)" />
        ))}
        {placed.nodes.map(({ id, type, x, y }) => (
          <g key={id} transform={`translate(${x - NODE.width / 2} ${y - NODE.height / 2})`}>
            <title>{id}</title>
            <rect class={`graph-node ${states.get(id) ?? ''}`} width={NODE.width} height={NODE.height} rx="8" />
            <text x="10" y="19">
              {id.length > NAME_LENGTH ? `${id.slice(0, NAME_LENGTH - 1)}…` : id}
            </text>
            <text x="10" y="35" class="graph-kind">
              {type}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Places the nodes in layers. The library is loaded only for a graph. */
async function place(nodes: Workflow['nodes'], edges: Workflow['edges']): Promise<Placed> {
  const { Graph: Layout, layout } = await import('@dagrejs/dagre').then(({ graphlib, layout: run }) => ({
    Graph: graphlib.Graph,
    layout: run,
  }));
  const graph = new Layout({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 24, ranksep: 48, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { ...NODE });
  for (const [at, { from, to }] of edges.entries()) graph.setEdge(from, to, {}, String(at));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: nodes.map(({ id, type }) => {
      const { x, y } = graph.node(id) as { x: number; y: number };
      return { id, type, x, y };
    }),
    edges: edges.map(({ from, to, kind }, at) => {
      const { points } = graph.edge(from, to, String(at)) as { points: readonly { x: number; y: number }[] };
      return { kind, path: `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}` };
    }),
  };
}
