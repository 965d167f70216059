import { AppError, messageOf } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';
import { unknownOption } from '../../kernel/text/index.js';
import type { DtoClass } from '../input/dto-schema.factory.js';
import type { InputSource, SyncInputSource } from '../input/input.types.js';
import { createSchemaInput } from '../input/schema-input.factory.js';
import { createStandardInput } from '../input/standard-input.factory.js';
import { isStandardSchema, type StandardInputSchema } from '../input/standard-schema.types.js';
import { stateArgumentProblems, stateParameterOf } from '../stateful/state-argument.policy.js';
import { toStateful } from '../stateful/stateful-options.policy.js';
import { createTool, type ToolDeclaration, type ToolHandler } from '../tool.factory.js';
import type { Tool } from '../tool.types.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';
import { takesState } from './tool-parameter.decorator.js';
import type { ToolOptions } from './tool.decorator.js';

/** Input of a tool with one string: the model sends it as `input`, the tool receives the plain string. */
export function createTextInput(description = 'The input, as plain text.'): SyncInputSource {
  const base = createSchemaInput({
    type: 'object',
    properties: { input: { type: 'string', description } },
    required: ['input'],
  });
  return {
    schema: base.schema,
    validate(args) {
      const checked = base.validate(args);
      return checked.valid ? { valid: true, value: (checked.value as { input: string }).input } : checked;
    },
  };
}

const ADVICE = 'give @Tool an `input` schema, or type the parameter as a class with class-validator decorators';

/** Creates the input of a method from its declaration. @throws AppError `TOOL_INVALID` if it declares none */
async function createMethodInput(declared: DeclaredTool): Promise<InputSource> {
  const { options, parameter, takesInput } = declared;
  if (typeof options.input === 'function') return classInput(options.input);
  if (options.input) {
    return isStandardSchema(options.input) ? createStandardInput(options.input) : createSchemaInput(options.input);
  }
  if (!takesInput) return createSchemaInput({ type: 'object', properties: {} });
  if (parameter === String) return createTextInput(options.paramsDescription);
  if (typeof parameter !== 'function' || parameter === Object) {
    throw new AppError(
      'TOOL_INVALID',
      `its first parameter is typed by an interface, a type alias or not at all, which is gone at run time (or the compiler writes no types: it needs "emitDecoratorMetadata"): ${ADVICE} (a ToolContext is the second parameter)`,
    );
  }
  return classInput(parameter as DtoClass);
}

/** Schemas of some libraries are functions too. */
async function classInput(dto: DtoClass | StandardInputSchema): Promise<InputSource> {
  if (isStandardSchema(dto)) return createStandardInput(dto);
  const { createDtoInput } = await import('../input/dto-input.factory.js');
  return createDtoInput(dto, ADVICE);
}

/** The type requires one entry for each option. */
const OPTIONS: Readonly<Record<keyof ToolOptions, true>> = {
  name: true,
  description: true,
  input: true,
  output: true,
  paramsDescription: true,
  reconcile: true,
  effect: true,
  timeoutMs: true,
  approval: true,
  retries: true,
  cacheTtlMs: true,
  concurrency: true,
  queueTimeoutMs: true,
  egress: true,
  untrusted: true,
  private: true,
  resources: true,
  stateful: true,
  stateInjection: true,
  stateParameterName: true,
};

type Methods = Record<string, ((key: string, context: unknown) => unknown) | undefined>;

/**
 * Creates the tool of a method with `@Tool`.
 * @param module name of the Nest module that provides the class, if any
 * @throws AppError `TOOL_INVALID` naming `Class.method`
 */
export async function createMethodTool(declared: DeclaredTool, handler: ToolHandler, module?: string): Promise<Tool> {
  const { method, options, source } = declared;
  const { input: _input, paramsDescription: _description, reconcile: _reconcile, output, ...handling } = options;
  const { name = method } = options;
  const described = await outputOf(output);
  const reconciliation = reconciliationOf(declared);
  return createTool(
    {
      ...handling,
      name,
      source,
      ...(module !== undefined && { module }),
      ...reconciliation,
      ...described,
      problems: [
        ...unknownOptions(options),
        ...(reconciliation.problems ?? []),
        ...(described.problems ?? []),
        ...stateProblems(declared),
      ],
    },
    async () => withPlaceForState(declared, await createMethodInput(declared)),
    handler,
  );
}

/** The decorators of a DTO class define its schema. */
async function outputOf(output: ToolOptions['output']): Promise<Pick<ToolDeclaration, 'output' | 'problems'>> {
  if (typeof output !== 'function' || isStandardSchema(output)) return output ? { output: output as JsonSchema } : {};
  const { createDtoSchema } = await import('../input/dto-schema.factory.js');
  try {
    return { output: createDtoSchema(output, 'decorate it, or give @Tool a schema') };
  } catch (error) {
    return { problems: [messageOf(error)] };
  }
}

/** @throws Error if the argument with the state is invalid, or the method cannot receive it */
function withPlaceForState({ options, parameter, takesInput }: DeclaredTool, input: InputSource): InputSource {
  const isDefault = options.stateParameterName !== undefined;
  const problems = stateArgumentProblems(options, isDefault, input.schema);
  const isInjected = stateParameterOf(options, isDefault) !== undefined;
  const hasRoom = takesInput && (options.input !== undefined || parameter !== String);
  if (isInjected && !hasRoom) {
    problems.push('its method has no parameter with an object of arguments for its state: use @ToolState()');
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return input;
}

function unknownOptions(options: ToolOptions): string[] {
  const mistake = unknownOption(options, Object.keys(OPTIONS));
  return mistake === undefined ? [] : [`@Tool: ${mistake}`];
}

function stateProblems({ instance, method, options }: DeclaredTool): string[] {
  if (toStateful(options.stateful) || !takesState(instance.constructor, method)) return [];
  return ['its method takes its state by @ToolState(), and it keeps none: add stateful: true'];
}

function reconciliationOf({ instance, options }: DeclaredTool): Pick<ToolDeclaration, 'reconcile' | 'problems'> {
  const { reconcile: name } = options;
  if (name === undefined) return {};
  const methods = instance as Methods;
  if (typeof methods[name] === 'function') return { reconcile: (key, context) => methods[name]?.(key, context) };
  const place = instance.constructor.name;
  return { problems: [`its reconcile is ${JSON.stringify(name)}: ${place} has no method of that name`] };
}
