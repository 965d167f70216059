import type { Template } from '../definition/condition.schema.js';
import type { NodeInput } from '../definition/node.schema.js';
import { RetriedNode } from './workflow.node.js';

type ToolInput = Extract<NodeInput, { type: 'tool' }>;
type CodeInput = Extract<NodeInput, { type: 'code' }>;
type Arguments = { readonly [name: string]: Template };

/** Calls a tool; outputs its `result`. */
export class ToolNode<const Id extends string> extends RetriedNode<Id, ToolInput> {
  /** @param args values that may contain placeholders */
  constructor(id: Id, tool: string, args: Arguments = {}) {
    super(id, { type: 'tool', tool, arguments: { ...args } });
  }
}

/** Calls a provider's method with `@WorkflowCode`; outputs its `result`. */
export class CodeNode<const Id extends string> extends RetriedNode<Id, CodeInput> {
  /** @param code name given by the decorator. @param args values that may contain placeholders */
  constructor(id: Id, code: string, args: Arguments = {}) {
    super(id, { type: 'code', code, arguments: { ...args } });
  }
}
