import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import type { ToolOptions } from './tool-options.types.js';
import { MARKS_METADATA, TOOL_METADATA, type Mark } from './tool.decorator.js';
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

/** Why no tool comes of a mark. */
const PROBLEMS: Readonly<Record<Exclude<Mark['kind'], 'method'>, string>> = {
  'static member': 'is on a static member; make it an instance method (remove "static")',
  symbol: 'is on a member with a symbol as its name; give the method a text as its name',
  accessor: 'is on a getter, a setter or an accessor; make it a method',
  field: 'is on a field or an abstract method; make it a method with a body',
  parameter: 'is on a parameter; put it on the method',
  class: 'is on the class; put it on a method',
};

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

  /** Errors in the marks of a class and of its base classes; each error names the class and the member. */
  problems(type: unknown, key = TOOL_METADATA): string[] {
    const problems: string[] = [];
    for (let at = type; typeof at === 'function' && at !== Function.prototype; at = Object.getPrototypeOf(at)) {
      const declaring = at;
      const marks = (Reflect.getOwnMetadata(MARKS_METADATA + key, declaring) as readonly Mark[] | undefined) ?? [];
      problems.push(...marks.flatMap((mark) => problemOf(mark, declaring, key)));
    }
    return problems;
  }
}

function problemOf({ decorator, member, kind }: Mark, type: { readonly name: string }, key: string): string[] {
  const source = `${type.name}${memberName(member)}`;
  if (kind !== 'method') return [`${source}: ${decorator} ${PROBLEMS[kind]}.`];
  const { prototype } = type as unknown as { readonly prototype: object };
  const value: unknown = Object.getOwnPropertyDescriptor(prototype, member!)?.value;
  if (typeof value === 'function' && Reflect.hasMetadata(key, value)) return [];
  return [
    `${source}: another decorator replaced the method and lost what ${decorator} wrote; put ${decorator} above that decorator.`,
  ];
}

function memberName(member: string | symbol | undefined): string {
  if (member === undefined) return '';
  return typeof member === 'symbol' ? `[${String(member)}]` : `.${member}`;
}
