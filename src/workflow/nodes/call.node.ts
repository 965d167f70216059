import type { Template } from '../definition/condition.schema.js';
import type { NodeInput } from '../definition/node.schema.js';
import { RetriedNode } from './workflow.node.js';

type ToolInput = Extract<NodeInput, { type: 'tool' }>;
type CodeInput = Extract<NodeInput, { type: 'code' }>;
type Arguments = { readonly [name: string]: Template };

/** Calls a tool: gives its `result`. */
export class ToolNode<const Id extends string> extends RetriedNode<Id, ToolInput> {
  /** @param args values with places */
  constructor(id: Id, tool: string, args: Arguments = {}) {
    super(id, { type: 'tool', tool, arguments: { ...args } });
  }
}

/** Calls a provider's method that bears `@WorkflowCode`: gives its `result`. */
export class CodeNode<const Id extends string> extends RetriedNode<Id, CodeInput> {
  /** @param code the name that the decorator gives. @param args values with places */
  constructor(id: Id, code: string, args: Arguments = {}) {
    super(id, { type: 'code', code, arguments: { ...args } });
  }
}
