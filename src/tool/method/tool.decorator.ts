import 'reflect-metadata';
import { SetMetadata } from '@nestjs/common';
import { ENTRY_PROVIDER_WATERMARK } from '@nestjs/common/constants.js';
import { AppError } from '../../common/index.js';
import { markParameters } from './tool-parameter.decorator.js';
import type { ToolOptions } from './tool-options.types.js';
import type { Tool as ToolType } from '../tool.types.js';

export const TOOL_METADATA = 'jackdaw:tool';
/** On a class: where its members bear a mark, right or wrong; the key of the mark follows. */
export const MARKS_METADATA = 'jackdaw:marks:';

/** The type and the decorator share their name, as a class does with its constructor. */
export type Tool = ToolType;

/** One use of a decorator on a class or one of its members. */
export interface Mark {
  /** The decorator's name: `@Tool`. */
  readonly decorator: string;
  /** The member; none for a class or the parameter of a constructor. */
  readonly member?: string | symbol;
  readonly kind: 'method' | 'static member' | 'symbol' | 'accessor' | 'field' | 'parameter' | 'class';
}

/** The second argument of a decorator of the ECMAScript standard, which TypeScript writes without `experimentalDecorators`. */
interface StandardContext {
  readonly kind: string;
  readonly name?: string | symbol;
}

/**
 * Makes a provider's method a tool. Its first parameter takes the checked arguments, the second, if there is one, the
 * `ToolContext`, others what their decorators say (`@ToolSignal()`, or one's own); what it returns (or resolves to) is the result, what it throws goes to the model as an error.
 * On anything else than an instance method with a text as its name, the start fails with `TOOL_INVALID`.
 */
export function Tool(options: ToolOptions) {
  return markMethod(TOOL_METADATA, options, '@Tool');
}

/**
 * Marks a method in the same way as a tool, under another metadata key: it is called like a tool, and no model sees it.
 * @param decorator the name of the decorator, for messages
 */
export function markMethod(key: string, options: ToolOptions, decorator: string) {
  return (target: object, method: string, descriptor: PropertyDescriptor): void => {
    assertLegacy(decorator, method);
    const kind = kindOf(target, method, descriptor);
    const type = typeof target === 'function' ? target : target.constructor;
    const marks = (Reflect.getOwnMetadata(MARKS_METADATA + key, type) as readonly Mark[] | undefined) ?? [];
    Reflect.defineMetadata(MARKS_METADATA + key, [...marks, { decorator, member: method, kind }], type);
    // The reader of the marks rejects the others, with the names of all invalid members.
    if (kind !== 'method') return;
    markParameters(target, method);
    Reflect.defineMetadata(ENTRY_PROVIDER_WATERMARK, true, type);
    SetMetadata(key, options)(target, method, descriptor);
  };
}

/** Decorators are typed for methods; code that is compiled without a check of types has them everywhere. */
function kindOf(target: object, member: unknown, descriptor: unknown): Mark['kind'] {
  if (typeof descriptor === 'number') return 'parameter';
  if (member === undefined) return 'class';
  if (typeof target === 'function') return 'static member';
  if (typeof member === 'symbol') return 'symbol';
  if (typeof descriptor !== 'object' || descriptor === null) return 'field';
  if ('get' in descriptor || 'set' in descriptor) return 'accessor';
  return typeof (descriptor as PropertyDescriptor).value === 'function' ? 'method' : 'field';
}

/** A standard decorator is not given its class, and Nest does not support it: all that can be named is the member. */
function assertLegacy(decorator: string, given: unknown): void {
  if (typeof given !== 'object' || given === null) return;
  const { kind, name } = given as StandardContext;
  throw new AppError(
    'TOOL_INVALID',
    `${decorator} on the ${kind} "${String(name)}": it is compiled as a standard decorator, which Nest does not support: set "experimentalDecorators" and "emitDecoratorMetadata" in tsconfig.json.`,
  );
}
