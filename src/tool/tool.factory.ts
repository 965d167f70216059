import { AppError, messageOf } from '../errors/index.js';
import type { JsonSchema, JsonValue } from '../kernel/json/index.js';
import { attempt } from './attempt.policy.js';
import { toCurrentDraft } from './input/draft7.mapper.js';
import type { InputSource } from './input/input.types.js';
import { createValueCheck } from './input/schema-input.factory.js';
import { jsonSchemaOf } from './input/standard-input.factory.js';
import { isStandardSchema } from './input/standard-schema.types.js';
import { handlingProblems, toMetadata } from './tool-handling.policy.js';
import type { ToolHandling } from './tool-registration.types.js';
import { refusedName } from './tool-refusal.policy.js';
import type { Tool, ToolContext, ToolInput } from './tool.types.js';

/** Output schema of a tool and the check of results against it. */
interface OutputSource {
  readonly schema: JsonSchema;
  check(result: JsonValue): ToolInput;
}

/** @throws AppError `TOOL_INVALID` for an unusable schema */
function createOutputCheck(output: NonNullable<ToolHandling['output']>): OutputSource {
  const schema = isStandardSchema(output) ? jsonSchemaOf(output, 'its output', 'output') : toCurrentDraft(output);
  return { schema, check: createValueCheck(schema, 'result', 'its output') };
}

/** Declaration of a tool, independent of its source. */
export interface ToolDeclaration extends ToolHandling {
  readonly name: string;
  readonly description: string;
  /** Place of the declaration, used in error messages. */
  readonly source: string;
  /** Name of the Nest module that provides the tool, if any. */
  readonly module?: string;
  readonly reconcile?: ToolReconciler;
  /** Mistakes that the declaring code found. */
  readonly problems?: readonly string[];
}

export type ToolReconciler = (key: string, context: ToolContext) => unknown;

/** Receives the value returned by the input's `validate`. */
export type ToolHandler = (input: unknown, context: ToolContext) => unknown;

/**
 * Creates a tool.
 * @throws AppError `TOOL_INVALID` with the source and all mistakes of the declaration and its input
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

/** Synchronous `createTool`. */
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
    metadata: {
      ...toMetadata(declaration, source, inputSource.schema),
      ...(module !== undefined && { module }),
    },
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
    ...(isDescribed ? [] : ['it has no description: state its purpose and when to use it']),
    ...handlingProblems(declaration),
    ...problems,
  ];
}
