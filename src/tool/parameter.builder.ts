import { AppError, type JsonSchema, type JsonValue } from '../common/index.js';

type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';

/**
 * One parameter of a tool, built step by step; every step gives a new one. A limit that the type cannot have throws
 * `TOOL_INVALID`.
 *
 *     Parameter.integer('days', 'How many days ahead').min(1).max(7).default(3)
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

  /** The name of `items` plays no part. */
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

  /** The least value of a number. */
  min(minimum: number): Parameter {
    return this.with({ minimum }, ['integer', 'number']);
  }

  /** The greatest value of a number. */
  max(maximum: number): Parameter {
    return this.with({ maximum }, ['integer', 'number']);
  }

  /** In characters. */
  minLength(minLength: number): Parameter {
    return this.with({ minLength }, ['string']);
  }

  /** In characters. */
  maxLength(maxLength: number): Parameter {
    return this.with({ maxLength }, ['string']);
  }

  /** The only values it may have. */
  enum(values: readonly JsonValue[]): Parameter {
    return this.with({ enum: [...values] });
  }

  /** What the tool gets when the model leaves it out. */
  default(value: JsonValue): Parameter {
    return this.with({ default: value });
  }

  /** For the model. */
  description(description: string): Parameter {
    return this.with({ description });
  }

  required(isRequired = true): Parameter {
    return new Parameter(this.name, this.type, isRequired, this.keywords);
  }

  /** What an array holds. */
  items(item: Parameter): Parameter {
    return this.with({ items: item.toSchema() }, ['array']);
  }

  /** What an object holds; nothing else is allowed in it. */
  properties(properties: readonly Parameter[]): Parameter {
    return this.with(shapeOf(properties), ['object']);
  }

  /** The JSON Schema of its value. */
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

/** The JSON Schema of arguments by their parameters. Throws `TOOL_INVALID` for two of one name. */
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
