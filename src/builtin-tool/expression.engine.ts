import { AppError } from '../errors/index.js';
import { ConstantNode, type ExpressionNode, FunctionNode, OperatorNode, ParenthesisNode } from './expression.node.js';
import { add, divide, type Fraction, modulo, multiply, negate, power, subtract } from './fraction.engine.js';
import { factorial } from './fraction-function.engine.js';
import { MATH_CONSTANTS, MATH_FUNCTIONS } from './math-function.registry.js';

type Operation = (...args: Fraction[]) => Fraction;

const HUNDRED: Fraction = { n: 100n, d: 1n };
/** Operations by the library's names; `ctranspose` is the postfix percent sign. */
const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries<Operation>({
    add,
    subtract,
    multiply,
    divide,
    mod: modulo,
    pow: power,
    unaryMinus: negate,
    unaryPlus: (x) => x,
    factorial,
    ctranspose: (x) => divide(x, HUNDRED),
  }),
);

/** Evaluates a tree. @throws AppError `TOOL_FAILED` for an undefined value, and for every unlisted operation */
export function evaluate(node: ExpressionNode): Fraction {
  if (node instanceof ConstantNode) return node.value;
  if (node instanceof ParenthesisNode) return evaluate(node.content);
  if (node instanceof OperatorNode) return operated(node);
  if (node instanceof FunctionNode) return called(node);
  const constant = MATH_CONSTANTS.get(node.name);
  if (!constant) throw refusal(`${node.name} is a function: write ${node.name}(…)`);
  return constant;
}

function operated(node: OperatorNode): Fraction {
  const operation = OPERATIONS.get(node.fn);
  if (!operation) throw refusal(`the operator ${JSON.stringify(node.op)} is not understood`);
  refuseAmbiguous(node);
  const [left, right] = node.args;
  if ((node.fn === 'add' || node.fn === 'subtract') && left && right && isPercent(right)) {
    const base = evaluate(left);
    return operation(base, multiply(base, evaluate(right)));
  }
  return operation(...node.args.map(evaluate));
}

function isPercent(node: ExpressionNode): boolean {
  return node instanceof OperatorNode && node.fn === 'ctranspose';
}

/** Rejects `1/2(3)`: it can mean 3/2 or 1/6. */
function refuseAmbiguous({ fn, implicit, args }: OperatorNode): void {
  const isDivided = implicit && args.some((arg) => arg instanceof OperatorNode && arg.fn === 'divide');
  const isDivisor = fn === 'divide' && args.some((arg) => arg instanceof OperatorNode && arg.implicit);
  if (isDivided || isDivisor)
    throw refusal('a product without its sign beside "/" is ambiguous: write * and parentheses');
}

function called({ fn, args }: FunctionNode): Fraction {
  const name = 'name' in fn ? fn.name : '';
  const known = MATH_FUNCTIONS.get(name);
  if (!known) throw refusal(`${name === '' ? 'the value before "("' : name} is not a function`);
  const [least, most] = known.takes;
  if (args.length < least || args.length > most) {
    const wanted = most > 2 ? `at least ${least}` : [...new Set(known.takes)].join(' or ');
    throw refusal(`${name} takes ${wanted} ${wanted === '1' ? 'number' : 'numbers'}, got ${args.length}`);
  }
  return known.compute(...args.map(evaluate));
}

function refusal(reason: string): AppError {
  return new AppError('TOOL_FAILED', `The expression is not arithmetic: ${reason}.`);
}
