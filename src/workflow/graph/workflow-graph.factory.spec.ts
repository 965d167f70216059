import { describe, expect, it } from 'vitest';
import type { NodeInput } from '../definition/node.schema.js';
import { parseWorkflow } from '../workflow.registry.js';
import { toMermaid } from './mermaid.mapper.js';
import { createGraph } from './workflow-graph.factory.js';

const llm = (id: string, prompt: string, more: object = {}): NodeInput => ({ id, type: 'llm', prompt, ...more });
const graphOf = (nodes: readonly NodeInput[], output?: string) =>
  createGraph(parseWorkflow({ name: 'w', nodes: [...nodes], ...(output !== undefined && { output }) }, 'test'));
const branch = (id: string, to: string, otherwise: string, value = '{{input.kind}}'): NodeInput => ({
  id,
  type: 'branch',
  cases: [{ when: { value, equals: 'a' }, to }],
  otherwise,
});

describe('createGraph', () => {
  it('orders a node after the nodes that it references, except with `after` or a branch to it', () => {
    const { edges } = graphOf([
      llm('a', '{{input.x}}'),
      branch('route', 'b', 'c', '{{a.response}}'),
      llm('b', '{{a.response}}'),
      llm('c', '{{a.response}}', { onError: { fallback: 'd' } }),
      llm('d', 'sorry'),
      llm('e', '{{a.response}}', { after: ['b', 'c'] }),
    ]);
    expect(edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`)).toEqual([
      'a next route',
      'b next e',
      'c next e',
      'route branch b',
      'route branch c',
      'c fallback d',
    ]);
  });

  it.each<[string, NodeInput[], string]>([
    ['two nodes with the same id', [llm('a', 'x'), llm('a', 'y')], 'there are two nodes "a"'],
    ['an unknown node in `after`', [llm('a', 'x'), llm('b', 'y', { after: ['aa'] })], 'did you mean "a"'],
    ['a cycle', [llm('a', 'x', { after: ['b'] }), llm('b', 'x', { after: ['a'] })], 'in a circle: '],
    ['a node that references itself', [llm('a', '{{a.response}}')], 'in a circle: a → a'],
    ['a reference to an unknown node', [llm('a', '{{letter}}')], 'names "letter": there is no such node'],
    [
      'a reference to a later node',
      [llm('a', '{{b.response}}', { after: [] }), llm('b', 'x')],
      'which does not come before it',
    ],
    [
      'a branch to an unknown node',
      [branch('r', 'unknown', 'r2'), llm('r2', 'x')],
      'cases[0].to: there is no node "unknown"',
    ],
    ['a fallback to an unknown node', [llm('a', 'x', { onError: { fallback: 'b' } })], 'onError.fallback'],
    ['an invalid reference', [llm('a', 'x {{1 + 1}}')], 'which is not a place'],
    ['an item outside of a map', [llm('a', '{{item}}')], '"item"'],
  ])('refuses %s', (_what, nodes, message) => {
    expect(() => graphOf(nodes)).toThrow(expect.objectContaining({ code: 'WORKFLOW_INVALID' }));
    expect(() => graphOf(nodes)).toThrow(message);
  });

  it('refuses an output of an unknown node', () => {
    expect(() => graphOf([llm('a', 'x')], '{{b.response}}')).toThrow('output names "b"');
  });

  it('reports all mistakes at once', () => {
    const nodes = [llm('a', 'x', { after: ['q'] }), llm('b', 'x', { onError: { fallback: 'z' } })];
    expect(() => graphOf(nodes)).toThrow(/"b": onError\.fallback.*\n.*"a": after\[0\]/);
  });

  it('finds the nodes whose model never runs concurrently with another one', () => {
    const side = graphOf([llm('a', 'x'), llm('b', 'y'), llm('c', '{{a.response}} {{b.response}}')]);
    expect([...side.soloists]).toEqual(['c']);
    const parted = graphOf([branch('r', 'a', 'b'), llm('a', 'x'), llm('b', 'y'), llm('c', 'z', { after: ['a', 'b'] })]);
    expect([...parted.soloists]).toEqual(['a', 'b', 'c']);
    const saved = graphOf([
      llm('a', 'x', { onError: { fallback: 'b' } }),
      llm('b', 'y'),
      llm('c', 'z', { after: ['a'] }),
    ]);
    expect([...saved.soloists]).toEqual(['a', 'b', 'c']);
  });

  it('creates a graph that toMermaid() writes with escaped names', () => {
    const graph = graphOf([
      llm('end', 'x'),
      branch('r', 'end2', 'end3', '"]} --> {{end.response}}'),
      llm('end2', 'y'),
      llm('end3', 'z'),
    ]);
    expect(toMermaid(graph)).toBe(
      [
        'flowchart TD',
        '  n1(["end: llm"])',
        '  n2{"r: branch"}',
        '  n3(["end2: llm"])',
        '  n4(["end3: llm"])',
        '  n1 --> n2',
        '  n2 -->|"#34;#93;#125; --#62; #123;#123;end.response#125;#125; equals #34;a#34;"| n3',
        '  n2 -->|"otherwise"| n4',
        '',
      ].join('\n'),
    );
  });
});
