import { AppError, messageOf } from '../common/index.js';
import { attempt } from './attempt.policy.js';
import type { InputSource } from './input/input.types.js';
import { createOutputCheck } from './output-check.factory.js';
import { handlingProblems, toMetadata } from './tool-handling.policy.js';
import type { ToolHandling } from './tool-handling.types.js';
import { refusedName } from './tool-name.policy.js';
import type { Tool, ToolContext } from './tool.types.js';

/** A tool as its author declares it, from whatever source. */
export interface ToolDeclaration extends ToolHandling {
  readonly name: string;
  readonly description: string;
  /** Where it was declared, for people. */
  readonly source: string;
  /** The module that provides it, if one does. */
  readonly module?: string;
  readonly reconcile?: ToolReconciler;
  /** What whoever declares it has found wrong. */
  readonly problems?: readonly string[];
}

export type ToolReconciler = (key: string, context: ToolContext) => unknown;

/** Takes what the input's `validate` gave. */
export type ToolHandler = (input: unknown, context: ToolContext) => unknown;

/**
 * Puts a tool together. All that is wrong with the declaration and its input comes in one `TOOL_INVALID`, which names
 * the source.
 */
export async function createTool(
  declaration: ToolDeclaration,
  input: () => InputSource | Promise<InputSource>,
  handler: ToolHandler,
): Promise<Tool> {
  const problems: string[] = [];
  const inputSource = await Promise.resolve()
    .then(input)
    .catch((error: unknown) => void problems.push(messageOf(error)));
  return assemble(declaration, inputSource, problems, handler);
}

/** `createTool` for an input that needs no waiting. */
export function createToolNow(declaration: ToolDeclaration, input: () => InputSource, handler: ToolHandler): Tool {
  const problems: string[] = [];
  return assemble(declaration, attempt(input, problems), problems, handler);
}

function assemble(
  declaration: ToolDeclaration,
  inputSource: InputSource | void,
  inputProblems: readonly string[],
  handler: ToolHandler,
): Tool {
  const { name, description, source, module, reconcile } = declaration;
  const problems = [...problemsOf(declaration), ...inputProblems];
  const output = attempt(() => declaration.output && createOutputCheck(declaration.output), problems);
  if (!inputSource || problems.length > 0) throw new AppError('TOOL_INVALID', `${source}: ${problems.join('; ')}.`);
  return {
    definition: { name, description, inputSchema: inputSource.schema, ...(output && { outputSchema: output.schema }) },
    metadata: { ...toMetadata(declaration, source), ...(module !== undefined && { module }) },
    validate: (args) => inputSource.validate(args),
    invoke: handler,
    ...(output && { checkOutput: (result) => output.check(result) }),
    ...(reconcile && { reconcile }),
  };
}

function problemsOf(declaration: ToolDeclaration): string[] {
  const { name, description, problems = [] } = declaration;
  const refusal = refusedName(name);
  const isDescribed = typeof description === 'string' && description.trim() !== '';
  return [
    ...(refusal ? [refusal] : []),
    ...(isDescribed ? [] : ['it has no description: say for the model what it does and when to use it']),
    ...handlingProblems(declaration),
    ...problems,
  ];
}
