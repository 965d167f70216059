import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { type Mark, MARKS_METADATA, TOOL_METADATA, type ToolOptions } from './tool.decorator.js';
import { inputIndex } from './tool-parameter.decorator.js';

/** A method with `@Tool`, as declared. */
export interface DeclaredTool {
  readonly instance: object;
  readonly method: string;
  /** `Class.method`. */
  readonly source: string;
  readonly options: ToolOptions;
  /** Class of the argument parameter, emitted by the compiler; undefined if absent. */
  readonly parameter: unknown;
  /** Whether the method has an argument parameter, even without emitted types. */
  readonly takesInput: boolean;
}

/** Reasons why a decorated member is not a tool. */
const PROBLEMS: Readonly<Record<Exclude<Mark['kind'], 'method'>, string>> = {
  'static member': 'is on a static member; make it an instance method (remove "static")',
  symbol: 'is on a member with a symbol as its name; give the method a text as its name',
  accessor: 'is on a getter, a setter or an accessor; make it a method',
  field: 'is on a field or an abstract method; make it a method with a body',
  parameter: 'is on a parameter; put it on the method',
  class: 'is on the class; put it on a method',
};

/** The only reader of the metadata of `@Tool`. */
@Injectable()
export class ToolMetadataAccessor {
  constructor(private readonly scanner: MetadataScanner) {}

  /** Tools among the own and inherited methods of an instance. @param key metadata key of the decorator */
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

  /** Errors in the decorators of a class and its base classes; each error names the class and the member. */
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
