import { AppError } from '../../errors/index.js';
import type { JsonSchema, JsonValue } from '../../kernel/json/index.js';

type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';

/**
 * Immutable builder for one parameter of a tool.
 *
 *     Parameter.integer('days', 'Number of days').min(1).max(7).default(3)
 *
 * @throws AppError `TOOL_INVALID` for a constraint that does not apply to the type
 */
export class Parameter {
  private constructor(
    readonly name: string,
    private readonly type: ParameterType,
    readonly isRequired: boolean,
    private readonly keywords: JsonSchema,
  ) {}

  static string(name: string, description?: string, required = false): Parameter {
    return Parameter.of('string', name, description, required);
  }

  static integer(name: string, description?: string, required = false): Parameter {
    return Parameter.of('integer', name, description, required);
  }

  static number(name: string, description?: string, required = false): Parameter {
    return Parameter.of('number', name, description, required);
  }

  static boolean(name: string, description?: string, required = false): Parameter {
    return Parameter.of('boolean', name, description, required);
  }

  /** @param items schema of the members; its name is ignored */
  static array(name: string, items?: Parameter, description?: string, required = false): Parameter {
    const array = Parameter.of('array', name, description, required);
    return items ? array.items(items) : array;
  }

  static object(
    name: string,
    properties: readonly Parameter[] = [],
    description?: string,
    required = false,
  ): Parameter {
    const object = Parameter.of('object', name, description, required);
    return properties.length > 0 ? object.properties(properties) : object;
  }

  private static of(type: ParameterType, name: string, description: string | undefined, required: boolean): Parameter {
    return new Parameter(name, type, required, description ? { description } : {});
  }

  /** Minimum of a number, inclusive. */
  min(minimum: number): Parameter {
    return this.with({ minimum }, ['integer', 'number']);
  }

  /** Maximum of a number, inclusive. */
  max(maximum: number): Parameter {
    return this.with({ maximum }, ['integer', 'number']);
  }

  /** Minimum length in characters. */
  minLength(minLength: number): Parameter {
    return this.with({ minLength }, ['string']);
  }

  /** Maximum length in characters. */
  maxLength(maxLength: number): Parameter {
    return this.with({ maxLength }, ['string']);
  }

  /** Allowed values. */
  enum(values: readonly JsonValue[]): Parameter {
    return this.with({ enum: [...values] });
  }

  /** Value for a call that omits the parameter. */
  default(value: JsonValue): Parameter {
    return this.with({ default: value });
  }

  /** Description for the model. */
  description(description: string): Parameter {
    return this.with({ description });
  }

  required(isRequired = true): Parameter {
    return new Parameter(this.name, this.type, isRequired, this.keywords);
  }

  /** Schema of the members of an array. */
  items(item: Parameter): Parameter {
    return this.with({ items: item.toSchema() }, ['array']);
  }

  /** Properties of an object; additional properties are rejected. */
  properties(properties: readonly Parameter[]): Parameter {
    return this.with(shapeOf(properties), ['object']);
  }

  /** JSON Schema of the value. */
  toSchema(): JsonSchema {
    return { type: this.type, ...this.keywords };
  }

  private with(keywords: JsonSchema, types: readonly ParameterType[] = [this.type]): Parameter {
    if (!types.includes(this.type)) {
      const limit = Object.keys(keywords)[0];
      throw new AppError(
        'TOOL_INVALID',
        `The ${this.type} parameter "${this.name}" cannot have "${limit}": that is for ${types.join(' and ')}.`,
      );
    }
    return new Parameter(this.name, this.type, this.isRequired, { ...this.keywords, ...keywords });
  }
}

/** JSON Schema of the arguments. @throws AppError `TOOL_INVALID` for a duplicate name */
export function parametersSchema(parameters: readonly Parameter[]): JsonSchema {
  return { type: 'object', ...shapeOf(parameters) };
}

function shapeOf(parameters: readonly Parameter[]): JsonSchema {
  const names = parameters.map(({ name }) => name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw new AppError('TOOL_INVALID', `two parameters are named "${double}"`);
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.toSchema()])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
