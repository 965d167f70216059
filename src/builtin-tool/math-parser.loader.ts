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

/** @throws SyntaxError with `char`, the position in the text from 1, for an invalid expression */
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
 * Loads the parser of mathjs, once, on first use. It imports one file past the package's `exports` (10 ms and 2 MB; the
 * main entry takes 400 ms and 120 MB, the number-only build 240 ms and 70 MB): hence the exact version in package.json.
 * The parser gets our own nodes, which contain exact fractions and cannot be evaluated by the library.
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

/** Replaces the library's dispatch by argument types; our argument is always a string. */
function onlyForText(_name: string, signatures: { readonly string: MathParser }): MathParser {
  return signatures.string;
}
