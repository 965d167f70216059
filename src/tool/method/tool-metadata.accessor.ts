import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import type { ToolOptions } from './tool-options.types.js';
import { TOOL_METADATA } from './tool.decorator.js';
import { inputIndex } from './tool-parameter.decorator.js';

/** A method that bears `@Tool`, as it was declared. */
export interface DeclaredTool {
  readonly instance: object;
  readonly method: string;
  /** `Class.method`. */
  readonly source: string;
  readonly options: ToolOptions;
  /** The class of the parameter that takes the arguments as the compiler wrote it down; undefined when there is none. */
  readonly parameter: unknown;
  /** Whether the method takes arguments at all, also where no compiler wrote its class down. */
  readonly takesInput: boolean;
}

/** The only reader of what `@Tool` wrote. */
@Injectable()
export class ToolMetadataAccessor {
  constructor(private readonly scanner: MetadataScanner) {}

  /** The tools among an instance's methods, its own and inherited ones, or what is marked under another key. */
  declaredTools(instance: object, key = TOOL_METADATA): DeclaredTool[] {
    const prototype = Object.getPrototypeOf(instance) as object | null;
    return this.scanner.getAllMethodNames(prototype).flatMap((method) => {
      const handler = (prototype as Record<string, unknown>)[method] as (...args: unknown[]) => unknown;
      const options = Reflect.getMetadata(key, handler) as ToolOptions | undefined;
      if (!options) return [];
      const index = inputIndex(instance.constructor, method);
      const parameters = Reflect.getMetadata('design:paramtypes', prototype as object, method) as unknown[] | undefined;
      return [
        {
          instance,
          method,
          source: `${instance.constructor.name}.${method}`,
          options,
          parameter: parameters?.[index],
          takesInput: parameters ? parameters.length > index : handler.length > index,
        },
      ];
    });
  }
}
