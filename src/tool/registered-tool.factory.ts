import { AppError } from '../errors/index.js';
import type { InputSource } from './input/input.types.js';
import { createSchemaInput, type LargeIntegers } from './input/schema-input.factory.js';
import { createStandardInput } from './input/standard-input.factory.js';
import { type Parameter, parametersSchema } from './input/parameter.builder.js';
import { stateArgumentProblems, stateParameterOf, withStateArgument } from './stateful/state-argument.policy.js';
import { isStandardSchema } from './input/standard-schema.types.js';
import type { ToolRegistration } from './tool-registration.types.js';
import { createToolNow, type ToolDeclaration, type ToolHandler } from './tool.factory.js';
import type { Tool } from './tool.types.js';

const KEYS: ReadonlySet<string> = new Set<keyof ToolRegistration>([
  'name',
  'description',
  'parameters',
  'handler',
  'effect',
  'timeoutMs',
  'approval',
  'retries',
  'cacheTtlMs',
  'concurrency',
  'queueTimeoutMs',
  'egress',
  'untrusted',
  'private',
  'resources',
  'stateful',
  'stateInjection',
  'stateParameterName',
  'output',
  'reconcile',
  'holder',
  'source',
]);

/** Creates the tool of a registration and compiles its schema. @throws AppError `TOOL_INVALID` with all mistakes */
export function createRegisteredTool(registration: ToolRegistration): Tool {
  const { source = `registry.register(${JSON.stringify(registration.name)})` } = registration;
  const unknown = Object.keys(registration).filter((key) => !KEYS.has(key));
  if (unknown.length > 0) {
    throw new AppError('TOOL_INVALID', `${source}: unknown ${unknown.join(', ')} (known: ${[...KEYS].join(', ')}).`);
  }
  if (typeof registration.handler !== 'function') {
    throw new AppError('TOOL_INVALID', `${source}: it has no handler: give a function of (args, context).`);
  }
  const tool = createToolNow(
    { ...registration, source, ...reconciliationOf(registration) },
    () => withPlaceFor(registration, inputOf(registration.parameters)),
    withState(registration, (args, context) => (registration.handler as ToolHandler)(args, context)),
  );
  return registration.holder ? { ...tool, metadata: { ...tool.metadata, isReturnForeign: true } } : tool;
}

/** Adds the state to the arguments, unless a holder has it. */
function withState(registration: ToolRegistration, handler: ToolHandler): ToolHandler {
  const name = registration.holder ? undefined : stateParameterOf(registration, true);
  if (name === undefined) return handler;
  return (args, context) => handler(withStateArgument(args, name, context.state!), context);
}

/** @throws Error if the name of the state argument is invalid, unused or already a parameter */
function withPlaceFor(registration: ToolRegistration, input: InputSource): InputSource {
  const { holder, ...declaration } = registration;
  const problems = stateArgumentProblems(
    holder ? { ...declaration, stateful: false } : declaration,
    true,
    input.schema,
  );
  if (problems.length > 0) throw new Error(problems.join('; '));
  return input;
}

/** `reconcile` is called as a method of the registration, like its handler. */
function reconciliationOf(registration: ToolRegistration): Pick<ToolDeclaration, 'reconcile' | 'problems'> {
  if (registration.reconcile === undefined) return {};
  if (typeof registration.reconcile !== 'function')
    return { problems: ['its reconcile is not a function of (key, context)'] };
  return { reconcile: (key, context) => registration.reconcile!(key, context) };
}

/** Input of a registration's `parameters`. @throws AppError `TOOL_INVALID` */
export function inputOf(parameters: ToolRegistration['parameters'] = [], large?: LargeIntegers): InputSource {
  if (isList(parameters)) return createSchemaInput(parametersSchema(parameters), large);
  return isStandardSchema(parameters) ? createStandardInput(parameters) : createSchemaInput(parameters, large);
}

function isList(parameters: NonNullable<ToolRegistration['parameters']>): parameters is readonly Parameter[] {
  return Array.isArray(parameters);
}
