import { markMethod, type ToolOptions } from '../../tool/method/index.js';

export const CODE_METADATA = 'jackdaw:code';

/** As for a tool; the description is not sent to models. */
export type CodeOptions = Partial<Pick<ToolOptions, 'description'>> &
  Omit<ToolOptions, 'description' | 'stateful' | 'stateInjection' | 'stateParameterName'>;

/**
 * Makes a provider's method a workflow step, for nodes `{ type: 'code', code: <name> }`. Calls follow the rules of
 * `@Tool`: argument validation, guards, pipes, interceptors and `effect`. Models do not see the method.
 * @param options `name` defaults to the method's name
 */
export function WorkflowCode(options: CodeOptions = {}) {
  return markMethod(CODE_METADATA, { description: 'A step of workflows.', ...options }, '@WorkflowCode');
}
