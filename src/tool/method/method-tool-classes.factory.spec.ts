import { describe, expect, it } from 'vitest';
import { MetadataScanner } from '@nestjs/core';
import { IsInt } from 'class-validator';
import { createMethodTool } from './method-tool.factory.js';
import { ToolMetadataAccessor } from './tool-metadata.accessor.js';
import { Tool } from './tool.decorator.js';

const description = 'For a test.';

class Order {
  @IsInt()
  n!: number;
}

class Report {
  @IsInt()
  total!: number;
}

class Silent {
  x = 1;
}

class ClassTools {
  @Tool({ description, input: Order, output: Report })
  report(input: { n: number }): Report {
    return { total: input.n };
  }

  @Tool({ description, output: Silent })
  silent(): void {}
}

async function toolOf(method: string): Promise<Tool> {
  const declared = new ToolMetadataAccessor(new MetadataScanner()).declaredTools(new ClassTools());
  return createMethodTool(
    declared.find((one) => one.method === method)!,
    (input) => input,
  );
}

describe('classes named in @Tool', () => {
  it('describe arguments and results', async () => {
    const tool = await toolOf('report');
    expect(tool.definition).toMatchObject({
      inputSchema: { properties: { n: { type: 'integer' } }, additionalProperties: false },
      outputSchema: { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] },
    });
    expect(await tool.validate({ n: 1 })).toEqual({ valid: true, value: expect.any(Order) });
    expect(tool.checkOutput?.({ total: 1 })).toEqual({ valid: true, value: { total: 1 } });
    expect(tool.checkOutput?.({ total: 'x' })).toMatchObject({
      valid: false,
      reason: '"result.total" must be integer, got string',
      mistakes: [{ field: 'result.total', rule: 'type', got: 'string' }],
    });
  });

  it('are rejected without class-validator decorators', async () => {
    await expect(toolOf('silent')).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringMatching(/^ClassTools\.silent: the class Silent has no class-validator decorators/),
    });
  });
});
