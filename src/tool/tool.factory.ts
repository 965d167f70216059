import { AppError, messageOf } from '../common/index.js';
import type { InputSource } from './input/input.types.js';
import { refusedName } from './tool-name.policy.js';
import type { Tool, ToolApproval, ToolContext, ToolEffect } from './tool.types.js';

/** A tool as its author declares it, from whatever source. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly effect: ToolEffect;
  /** Where it was declared, for people. */
  readonly source: string;
  /** In ms. */
  readonly timeoutMs?: number;
  readonly approval?: ToolApproval;
  readonly reconcile?: ToolReconciler;
  /** What whoever declares it has found wrong. */
  readonly problems?: readonly string[];
}

export type ToolReconciler = (key: string, context: ToolContext) => unknown;

/** Takes what the input's `validate` gave. */
export type ToolHandler = (input: unknown, context: ToolContext) => unknown;

const EFFECTS: ReadonlySet<string> = new Set<ToolEffect>(['read', 'idempotent', 'once']);
/** The longest delay of a timer; a longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

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
  let inputSource: InputSource | undefined;
  try {
    inputSource = input();
  } catch (error) {
    problems.push(messageOf(error));
  }
  return assemble(declaration, inputSource, problems, handler);
}

function assemble(
  declaration: ToolDeclaration,
  inputSource: InputSource | void,
  inputProblems: readonly string[],
  handler: ToolHandler,
): Tool {
  const { name, description, effect, source, timeoutMs, approval, reconcile } = declaration;
  const problems = [...problemsOf(declaration), ...(declaration.problems ?? []), ...inputProblems];
  if (!inputSource || problems.length > 0) throw new AppError('TOOL_INVALID', `${source}: ${problems.join('; ')}.`);
  return {
    definition: { name, description, inputSchema: inputSource.schema },
    metadata: { effect, source, ...(timeoutMs !== undefined && { timeoutMs }), ...(approval && { approval }) },
    validate: (args) => inputSource.validate(args),
    invoke: handler,
    ...(reconcile && { reconcile }),
  };
}

function problemsOf({ name, description, effect, timeoutMs, approval }: ToolDeclaration): string[] {
  const problems: string[] = [];
  const refusal = refusedName(name);
  if (refusal) problems.push(refusal);
  if (typeof description !== 'string' || description.trim() === '') {
    problems.push('it has no description: say for the model what it does and when to use it');
  }
  if (!EFFECTS.has(effect))
    problems.push(`its effect is ${JSON.stringify(effect)}: use "read", "idempotent" or "once"`);
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    problems.push(`its timeoutMs is ${timeoutMs}: use whole milliseconds from 1 to ${MAX_TIMEOUT_MS}`);
  }
  if (!isApproval(approval)) {
    problems.push(
      `its approval is ${JSON.stringify(approval)}: use "never", "always" or a function of (input, context)`,
    );
  }
  return problems;
}

function isApproval(approval: unknown): boolean {
  return approval === undefined || approval === 'never' || approval === 'always' || typeof approval === 'function';
}
