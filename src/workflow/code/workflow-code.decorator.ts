import { markMethod, type ToolOptions } from '../../tool/index.js';

export const CODE_METADATA = 'jackdaw:code';

/** As of a tool; the description is for people only. */
export type CodeOptions = Partial<Pick<ToolOptions, 'description'>> & Omit<ToolOptions, 'description' | 'stateful'>;

/**
 * Makes a provider's method a step of workflows, for nodes `{ type: 'code', code: <name> }`. It is called as a `@Tool` is: its
 * arguments are checked, guards, pipes and interceptors run, and by its `effect` it happens once. No model is told of it.
 * @param options `name` is the method's when left out
 */
export function WorkflowCode(options: CodeOptions = {}) {
  return markMethod(CODE_METADATA, { description: 'A step of workflows.', ...options }, '@WorkflowCode');
}
