import { createMethodInput } from './input/method-input.factory.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';
import { createTool, type ToolDeclaration } from './tool.factory.js';
import type { Tool } from './tool.types.js';

type Methods = Record<string, ((first: unknown, context: unknown) => unknown) | undefined>;

/** A tool of a method that bears `@Tool`. Throws `TOOL_INVALID` naming `Class.method`. */
export function createMethodTool(declared: DeclaredTool): Promise<Tool> {
  const { instance, method, options, source } = declared;
  const methods = instance as Methods;
  return createTool(
    {
      name: options.name ?? method,
      description: options.description,
      effect: options.effect ?? 'once',
      source,
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      ...(options.approval !== undefined && { approval: options.approval }),
      ...reconciliationOf(declared),
    },
    () => createMethodInput(declared),
    (input, context) => methods[method]?.(input, context),
  );
}

function reconciliationOf({ instance, options }: DeclaredTool): Pick<ToolDeclaration, 'reconcile' | 'problems'> {
  const { reconcile: name } = options;
  if (name === undefined) return {};
  const methods = instance as Methods;
  if (typeof methods[name] === 'function') return { reconcile: (key, context) => methods[name]?.(key, context) };
  const place = instance.constructor.name;
  return { problems: [`its reconcile is ${JSON.stringify(name)}: ${place} has no method of that name`] };
}
