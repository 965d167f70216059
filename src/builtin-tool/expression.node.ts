import { AppError } from '../errors/index.js';
import type { Fraction } from './fraction.engine.js';

/** The nodes that the parser may create; it rejects all others while it parses. */
export type ExpressionNode = ConstantNode | SymbolNode | ParenthesisNode | OperatorNode | FunctionNode;

/** The library recognises a node by `isNode` and its own `is…Node` property. */
abstract class MathNode {
  get isNode(): true {
    return true;
  }
}

// On the prototype, as in the library.
Object.defineProperty(MathNode.prototype, 'isNode', { value: true });

export class ConstantNode extends MathNode {
  readonly isConstantNode = true;
  constructor(readonly value: Fraction) {
    super();
    // The library also creates constants for strings and for words such as `true`.
    if (typeof value?.n !== 'bigint') throw refusal();
  }
}

export class SymbolNode extends MathNode {
  readonly isSymbolNode = true;
  constructor(readonly name: string) {
    super();
  }
}

export class ParenthesisNode extends MathNode {
  readonly isParenthesisNode = true;
  constructor(readonly content: ExpressionNode) {
    super();
  }
}

export class OperatorNode extends MathNode {
  readonly isOperatorNode = true;
  constructor(
    readonly op: string,
    /** Name of the operation in the library: `add`, `unaryMinus`. */
    readonly fn: string,
    readonly args: readonly ExpressionNode[],
    /** Whether it is a multiplication without an operator: `2 pi`. */
    readonly implicit = false,
  ) {
    super();
  }
}

export class FunctionNode extends MathNode {
  readonly isFunctionNode = true;
  constructor(
    readonly fn: ExpressionNode,
    readonly args: readonly ExpressionNode[],
  ) {
    super();
  }
}

/**
 * Rejects everything else that the library can parse: assignments, lists, strings, property access, function
 * definitions.
 */
export class RefusedNode extends MathNode {
  constructor() {
    super();
    throw refusal();
  }
}

function refusal(): AppError {
  return new AppError(
    'TOOL_FAILED',
    'The expression is not arithmetic: only numbers, operators and functions are understood.',
  );
}
