import { AppError } from '../../common/index.js';
import type { Fraction } from './fraction.engine.js';

/** What the parser may build; whatever else it reads is refused while it reads. */
export type ExpressionNode = ConstantNode | SymbolNode | ParenthesisNode | OperatorNode | FunctionNode;

/** The library knows a node by these two marks. */
abstract class MathNode {
  get isNode(): true {
    return true;
  }
}

// As the library does, the mark is on the prototype.
Object.defineProperty(MathNode.prototype, 'isNode', { value: true });

export class ConstantNode extends MathNode {
  readonly isConstantNode = true;
  constructor(readonly value: Fraction) {
    super();
    // The library also makes constants of texts and of words such as `true`.
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
    /** The library's name of the operation: `add`, `unaryMinus`. */
    readonly fn: string,
    readonly args: readonly ExpressionNode[],
    /** Whether it is a multiplication that nobody wrote: `2 pi`. */
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

/** Stands for everything else the library can read: assignments, lists, texts, access to properties, functions. */
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
