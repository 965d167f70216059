import { createMethodInput } from './input/method-input.factory.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';
import { createTool } from './tool.factory.js';
import type { Tool } from './tool.types.js';

/** A tool of a method that bears `@Tool`. Throws `TOOL_INVALID` naming `Class.method`. */
export function createMethodTool(declared: DeclaredTool): Promise<Tool> {
  const { instance, method, options, source } = declared;
  const methods = instance as Record<string, (input: unknown, context: unknown) => unknown>;
  return createTool(
    {
      name: options.name ?? method,
      description: options.description,
      effect: options.effect ?? 'once',
      source,
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    },
    () => createMethodInput(declared),
    (input, context) => methods[method]?.(input, context),
  );
}
