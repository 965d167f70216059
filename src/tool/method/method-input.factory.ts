import { AppError } from '../../errors/index.js';
import { isStandardSchema, type StandardInputSchema } from '../standard-schema.types.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';
import type { InputSource } from '../input/input.types.js';
import type { DtoClass } from '../input/nested-class.accessor.js';
import { createSchemaInput } from '../input/schema-input.factory.js';
import { createStandardInput } from '../input/standard-input.factory.js';
import { createTextInput } from '../input/text-input.factory.js';

const ADVICE = 'give @Tool an `input` schema, or type the parameter as a class with class-validator decorators';

/** Creates the input of a method from its declaration. @throws AppError `TOOL_INVALID` if it declares none */
export async function createMethodInput(declared: DeclaredTool): Promise<InputSource> {
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
