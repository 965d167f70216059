import {
  type ExpressionNode,
  ConstantNode,
  FunctionNode,
  OperatorNode,
  ParenthesisNode,
  RefusedNode,
  SymbolNode,
} from './expression.node.js';
import { parseFraction } from './fraction.mapper.js';

/** Throws an error with `char`, the place in the text from 1, for what it cannot read. */
export type MathParser = (text: string) => ExpressionNode;

interface ParserModule {
  readonly createParse: (parts: Readonly<Record<string, unknown>>) => MathParser;
}

const NODES = { ConstantNode, FunctionNode, OperatorNode, ParenthesisNode, SymbolNode };
const REFUSED = [
  'AccessorNode',
  'ArrayNode',
  'AssignmentNode',
  'BlockNode',
  'ConditionalNode',
  'FunctionAssignmentNode',
  'IndexNode',
  'ObjectNode',
  'RangeNode',
  'RelationalNode',
];

let loading: Promise<MathParser> | undefined;

/**
 * Loads the parser of mathjs, once, when it is first wanted. Only its file is imported (10 ms and 2 MB; the package's
 * face takes 400 ms and 120 MB, its number-only build 240 ms and 70 MB), past the package's `exports`: hence the exact
 * version in package.json. It gets nodes of ours that hold exact fractions and cannot be evaluated.
 */
export function loadMathParser(): Promise<MathParser> {
  loading ??= load();
  return loading;
}

async function load(): Promise<MathParser> {
  const file = new URL('./expression/parse.js', import.meta.resolve('mathjs'));
  const { createParse } = (await import(file.href)) as ParserModule;
  return createParse({
    ...NODES,
    ...Object.fromEntries(REFUSED.map((name) => [name, RefusedNode])),
    config: { number: 'number' },
    numeric: parseFraction,
    typed: Object.assign(onlyForText, { addConversion: () => undefined }),
  });
}

/** The library dispatches by the types of arguments; ours is always a text. */
function onlyForText(_name: string, signatures: { readonly string: MathParser }): MathParser {
  return signatures.string;
}
