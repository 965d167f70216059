import { SetMetadata } from '@nestjs/common';
import { ENTRY_PROVIDER_WATERMARK } from '@nestjs/common/constants.js';
import { markParameters } from './tool-parameter.decorator.js';
import type { ToolOptions } from './tool-options.types.js';
import type { Tool as ToolType } from '../tool.types.js';

export const TOOL_METADATA = 'jackdaw:tool';

/** The type and the decorator share their name, as a class does with its constructor. */
export type Tool = ToolType;

/**
 * Makes a provider's method a tool. Its first parameter takes the checked arguments, the second, if there is one, the
 * `ToolContext`, others what their decorators say (`@ToolSignal()`, or one's own); what it returns (or resolves to) is the result, what it throws goes to the model as an error.
 */
export function Tool(options: ToolOptions) {
  return markMethod(TOOL_METADATA, options);
}

/** Marks a method as a tool's is, under a key of one's own: it is called in the same way, and no model is told of it. */
export function markMethod(key: string, options: ToolOptions) {
  return (target: object, method: string, descriptor: PropertyDescriptor): void => {
    markParameters(target, method);
    Reflect.defineMetadata(ENTRY_PROVIDER_WATERMARK, true, target.constructor);
    SetMetadata(key, options)(target, method, descriptor);
  };
}
