import 'reflect-metadata';
import { SetMetadata } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';
import type { DtoClass } from '../input/dto-schema.factory.js';
import type { StandardInputSchema } from '../input/standard-schema.types.js';
import { type StateInjection, stateParameterOf } from '../stateful/state-argument.policy.js';
import type { ToolHandling } from '../tool-registration.types.js';
import type { Tool as ToolType } from '../tool.types.js';
import { markParameters } from './tool-parameter.decorator.js';

/** Options of `@Tool({…})`. A method's arguments contain its state only with `stateInjection` or `stateParameterName`. */
export interface ToolOptions extends Omit<ToolHandling, 'output'>, StateInjection {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`; default: the method's name. */
  readonly name?: string;
  /** Description for the model: purpose of the tool and when to use it. */
  readonly description: string;
  /**
   * Schema of the arguments, or a DTO class. Default: the type of the method's first parameter (a DTO class, `string`
   * or none).
   */
  readonly input?: StandardInputSchema | JsonSchema | DtoClass;
  /** Schema of the result, or a DTO class; a result that does not match is an error. */
  readonly output?: StandardInputSchema | JsonSchema | DtoClass;
  /** Description of the parameter, for a method with one `string`. */
  readonly paramsDescription?: string;
  /** Name of a method of the same provider that determines the outcome of a call by its key; see `Reconciliation`. */
  readonly reconcile?: string;
}

export const TOOL_METADATA = 'jackdaw:tool';
/**
 * Metadata key prefix on a class: all uses of a decorator on its members, valid or not. The decorator's own key
 * follows.
 */
export const MARKS_METADATA = 'jackdaw:marks:';

/** Type and decorator share the name. */
export type Tool = ToolType;

/** One use of a decorator on a class or one of its members. */
export interface Mark {
  /** Name of the decorator: `@Tool`. */
  readonly decorator: string;
  /** Name of the member; absent for a class or a constructor parameter. */
  readonly member?: string | symbol;
  readonly kind: 'method' | 'static member' | 'symbol' | 'accessor' | 'field' | 'parameter' | 'class';
}

/** Second argument of a standard ECMAScript decorator, which TypeScript emits without `experimentalDecorators`. */
interface StandardContext {
  readonly kind: string;
  readonly name?: string | symbol;
}

/**
 * Declares a provider's method as a tool. The first parameter gets the validated arguments, the second the
 * `ToolContext`; decorated parameters (`@ToolSignal()`, custom ones) get their own values. The (resolved) return value
 * is the result; a thrown error is reported to the model. On any other member than an instance method with a string
 * name, the start fails with `TOOL_INVALID`.
 */
export function Tool(options: ToolOptions) {
  return markMethod(TOOL_METADATA, options, '@Tool');
}

/**
 * Marks a method like `@Tool`, under another metadata key: callable like a tool, but invisible to models.
 * @param decorator name of the decorator, for messages
 */
export function markMethod(key: string, options: ToolOptions, decorator: string) {
  return (target: object, method: string, descriptor: PropertyDescriptor): void => {
    assertLegacy(decorator, method);
    const kind = kindOf(target, method, descriptor);
    const type = typeof target === 'function' ? target : target.constructor;
    const marks = (Reflect.getOwnMetadata(MARKS_METADATA + key, type) as readonly Mark[] | undefined) ?? [];
    Reflect.defineMetadata(MARKS_METADATA + key, [...marks, { decorator, member: method, kind }], type);
    // The metadata accessor rejects invalid members, all in one error.
    if (kind !== 'method') return;
    markParameters(target, method, stateParameterOf(options, options.stateParameterName !== undefined));
    SetMetadata(key, options)(target, method, descriptor);
  };
}

/** The types allow methods only, but code compiled without type checks can decorate any member. */
function kindOf(target: object, member: unknown, descriptor: unknown): Mark['kind'] {
  if (typeof descriptor === 'number') return 'parameter';
  if (member === undefined) return 'class';
  if (typeof target === 'function') return 'static member';
  if (typeof member === 'symbol') return 'symbol';
  if (typeof descriptor !== 'object' || descriptor === null) return 'field';
  if ('get' in descriptor || 'set' in descriptor) return 'accessor';
  return typeof (descriptor as PropertyDescriptor).value === 'function' ? 'method' : 'field';
}

/**
 * Rejects standard decorators, which Nest does not support. They do not receive their class, so the error names the
 * member only.
 */
function assertLegacy(decorator: string, context: unknown): void {
  if (typeof context !== 'object' || context === null) return;
  const { kind, name } = context as StandardContext;
  throw new AppError(
    'TOOL_INVALID',
    `${decorator} on the ${kind} "${String(name)}": it is compiled as a standard decorator, which Nest does not support: set "experimentalDecorators" and "emitDecoratorMetadata" in tsconfig.json.`,
  );
}
