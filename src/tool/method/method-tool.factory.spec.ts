import { describe, expect, it } from 'vitest';
import { MetadataScanner } from '@nestjs/core';
import {
  IsEnum,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { z } from 'zod';
import { toolContext } from '../../../test/support/call-site.js';
import { createMethodTool } from './method-tool.factory.js';
import { ToolMetadataAccessor } from './tool-metadata.accessor.js';
import { Tool } from './tool.decorator.js';
import type { ToolContext } from '../tool.types.js';

const description = 'For a test.';
const CONTEXT = toolContext();

enum Level {
  low,
  high,
}

class ForecastInput {
  @IsString()
  city!: string;

  @IsInt()
  @Min(1)
  @Max(7)
  @IsOptional()
  days?: number;

  @IsInt({ each: true })
  @IsOptional()
  hours?: number[];

  @IsIn(['c', 'f'])
  unit: string = 'c';
}

class RuleInput {
  @ValidateBy({ name: 'isEven', validator: { validate: (n) => Number(n) % 2 === 0, defaultMessage: () => 'n is odd' } })
  @IsInt()
  @IsNotEmpty()
  n!: number;

  @IsEnum(Level)
  level!: Level;
}

interface Shape {
  x: number;
}

class FormTools {
  private readonly prefix = 'got';

  @Tool({ description, input: z.object({ n: z.number().int(), unit: z.string().default('m') }) })
  standard(input: { n: number; unit: string }): unknown {
    return input;
  }

  @Tool({ description, input: z.object({ text: z.string().transform((text) => text.length) }) })
  transformed(input: { text: number }): unknown {
    return input;
  }

  @Tool({ description, input: z.object({ a: z.object({ b: z.string().refine((b) => b !== 'x', 'is x') }) }) })
  refined(): void {}

  @Tool({ description, input: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } })
  plain(input: Shape): unknown {
    return input;
  }

  @Tool({ description })
  dto(input: ForecastInput): unknown {
    return input;
  }

  @Tool({ description })
  rules(input: RuleInput): unknown {
    return input.n;
  }

  @Tool({ name: 'text-tool', description, paramsDescription: 'What to repeat.', effect: 'idempotent', timeoutMs: 500 })
  text(input: string, context: ToolContext): unknown {
    return `${this.prefix} ${input} in ${context.runId}`;
  }

  @Tool({ description })
  bare(): unknown {
    return 42;
  }

  @Tool({ description, approval: 'always', reconcile: 'findOut' })
  careful(): void {}

  findOut(key: string, { runId }: ToolContext): unknown {
    return `${this.prefix} ${key} in ${runId}`;
  }
}

class Undecorated {
  x = 1;
}

class Nested {
  @ValidateNested()
  forecast!: ForecastInput[];
}

class FaultyTools {
  @Tool({ description, stateInjection: true, stateParameterName: 'memory' })
  stateless(_input: ForecastInput): void {}

  @Tool({ description, stateful: true, stateParameterName: 'city' })
  taken(_input: ForecastInput): void {}

  @Tool({ description, stateful: true, stateInjection: true })
  roomless(): void {}

  @Tool({ description, stateful: true, stateInjection: true })
  texts(_text: string): void {}

  @Tool({ description })
  shape(input: Shape): unknown {
    return input;
  }

  @Tool({ description })
  undecorated(input: Undecorated): unknown {
    return input;
  }

  @Tool({ description })
  nested(input: Nested): unknown {
    return input;
  }

  @Tool({ description })
  half(input: number): unknown {
    return input;
  }

  @Tool({ name: 'finish', description })
  end(): void {}

  @Tool({ description, approval: 'sometimes' as never, reconcile: 'findOut' })
  careless(): void {}

  @Tool({ description, input: z.object({ at: z.date() }) })
  date(): void {}

  @Tool({ description, input: { '~standard': { vendor: 'old', validate: (given: unknown) => ({ value: given }) } } })
  old(): void {}

  @Tool({ name: 'not a name', description: ' ', timeoutMs: 0 })
  faulty(input: number): unknown {
    return input;
  }
}

const accessor = new ToolMetadataAccessor(new MetadataScanner());

async function toolOf(instance: object, method: string): Promise<Tool> {
  const declared = accessor.declaredTools(instance).find((candidate) => candidate.method === method);
  if (!declared) throw new Error(`There is no tool at ${method}`);
  const methods = instance as Record<string, (input: unknown, context: unknown) => unknown>;
  return createMethodTool(declared, (input, context) => methods[method]!(input, context));
}

async function schemaOf(method: string): Promise<unknown> {
  return (await toolOf(new FormTools(), method)).definition.inputSchema;
}

/** Returns the result, or the reason why the arguments are rejected. */
async function call(method: string, args: unknown): Promise<unknown> {
  const tool = await toolOf(new FormTools(), method);
  const input = await tool.validate(args);
  return input.valid ? tool.invoke(input.value, CONTEXT) : input.reason;
}

describe('createMethodTool', () => {
  it('accepts a Standard Schema, and calls the method with its output', async () => {
    expect(await schemaOf('standard')).toEqual({
      type: 'object',
      properties: { n: expect.objectContaining({ type: 'integer' }), unit: { type: 'string', default: 'm' } },
      required: ['n'],
      additionalProperties: false,
    });
    expect(await call('standard', { n: 1 })).toEqual({ n: 1, unit: 'm' });
    expect(await call('standard', { n: 1, x: 1 })).toBe('unknown argument "x" (known: n, unit)');
    expect(await call('transformed', { text: 'four' })).toEqual({ text: 4 });
  });

  it('reports the issues of a Standard Schema where JSON Schema finds none', async () => {
    expect(await call('refined', { a: { b: 'x' } })).toBe('"a.b": is x, got string');
  });

  it('accepts a JSON Schema', async () => {
    expect(await call('plain', { x: 1.5 })).toEqual({ x: 1.5 });
    expect(await call('plain', {})).toBe('"x" is required');
  });

  it('accepts a DTO class, and calls the method with an instance', async () => {
    expect(await schemaOf('dto')).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 1, maximum: 7 },
        hours: { type: 'array', items: { type: 'integer' } },
        unit: { type: 'string', enum: ['c', 'f'], default: 'c' },
      },
      required: ['city'],
      additionalProperties: false,
    });
    const given = await call('dto', { city: 'Bern', unit: 'c', days: 2 });
    expect(given).toBeInstanceOf(ForecastInput);
    expect(given).toMatchObject({ city: 'Bern', days: 2, unit: 'c' });
    expect(await call('dto', { city: 'Bern', unit: 'c', days: 1.5 })).toBe('"days" must be integer, got 1.5');
    expect(await call('dto', { city: 'Bern', unit: 'c', day: 1 })).toMatch(/^unknown argument "day" \(known: /);
  });

  it('applies the rules of a DTO class that JSON Schema does not have', async () => {
    expect(await schemaOf('rules')).toMatchObject({ properties: { n: { type: 'integer' }, level: { enum: [0, 1] } } });
    expect(await call('rules', { n: 2, level: Level.high })).toBe(2);
    expect(await call('rules', { n: 3, level: Level.high })).toBe('"n": n is odd, got 3');
  });

  it('accepts a single text parameter, and passes the context', async () => {
    expect(await schemaOf('text')).toEqual({
      type: 'object',
      properties: { input: { type: 'string', description: 'What to repeat.' } },
      required: ['input'],
      additionalProperties: false,
    });
    expect(await call('text', { input: 'abc' })).toBe('got abc in r');
    expect(await call('text', { input: 1 })).toBe('"input" must be string, got number');
  });

  it('accepts a method without parameters', async () => {
    expect(await schemaOf('bare')).toEqual({ type: 'object', properties: {}, additionalProperties: false });
    expect(await call('bare', {})).toBe(42);
    expect(await call('bare', { x: 1 })).toBe('unknown argument "x" (the tool has no arguments)');
  });

  it('reads name and metadata', async () => {
    const tools = new FormTools();
    const text = await toolOf(tools, 'text');
    expect(text.definition.name).toBe('text-tool');
    expect(text.metadata).toMatchObject({
      effect: 'idempotent',
      egress: false,
      source: 'FormTools.text',
      timeoutMs: 500,
    });
    expect((await toolOf(tools, 'bare')).metadata).toMatchObject({
      effect: 'once',
      egress: true,
      source: 'FormTools.bare',
    });
  });

  it('applies the approval option and the reconcile method', async () => {
    const tool = await toolOf(new FormTools(), 'careful');
    expect(tool.metadata).toMatchObject({ effect: 'once', source: 'FormTools.careful', approval: 'always' });
    expect(tool.reconcile?.('k', CONTEXT)).toBe('got k in r');
  });

  it.each([
    ['careless', /its approval is "sometimes".*its reconcile is "findOut": FaultyTools has no method of that name/],
    ['shape', /interface.*give @Tool an `input` schema/],
    ['undecorated', /Undecorated has no class-validator decorators/],
    ['nested', /Nested.forecast holds another class.*@Type/],
    ['half', /Number has no class-validator decorators/],
    ['end', /"finish" is reserved/],
    ['date', /cannot be written as JSON Schema/],
    ['old', /schema of old .*jsonSchema is missing/],
    ['stateless', /it has a stateInjection and keeps no state that it is given; it has a stateParameterName/],
    ['taken', /its parameters have "city", where its state would be/],
    ['roomless', /its method has no parameter with an object of arguments for its state: use @ToolState\(\)/],
    ['texts', /its method has no parameter with an object of arguments for its state/],
    ['faulty', /the name "not a name".*; it has no description.*; its timeoutMs.*; the class Number/],
  ])('refuses %s, naming the place', async (method, message) => {
    await expect(toolOf(new FaultyTools(), method)).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringMatching(new RegExp(`^FaultyTools\\.${method}: .*${message.source}`)),
    });
  });
});
