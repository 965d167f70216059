import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { ToolPortsModule } from '../../test/support/tool-parts.js';
import { callSite } from '../../test/support/call-site.js';
import { AppConfigModule } from '../config/index.js';
import { ToolExecutor, ToolModule, ToolRegistry } from '../tool/index.js';
import { BuiltinToolModule } from './builtin-tool.module.js';

@Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule, BuiltinToolModule.forRoot()] })
class AppModule {}

describe('BuiltinToolModule', () => {
  let app: INestApplicationContext;

  beforeAll(async () => {
    app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  });
  afterAll(() => app.close());

  async function call(name: string, args: unknown): Promise<unknown> {
    const executor = app.get(ToolExecutor);
    const tools = new Map([[name, app.get(ToolRegistry).get(name)]]);
    const planned = await executor.plan({ name, arguments: JSON.stringify(args) }, tools, callSite());
    if (planned.kind === 'rejected') return planned.result;
    const invoked = await executor.invoke(planned, callSite());
    return invoked.kind === 'result' ? invoked.result : invoked;
  }

  it('registers the built-in tools', () => {
    const tools = app.get(ToolRegistry).list();
    expect(tools.map(({ definition }) => definition.name).toSorted()).toEqual([
      'calculator',
      'get_timestamp',
      'string_tools',
    ]);
    expect(app.get(ToolRegistry).get('calculator').metadata.effect).toBe('read');
  });

  it('costs at most 450 tokens of a prompt', () => {
    const sent = app
      .get(ToolRegistry)
      .list()
      .map(({ definition: { name, description, inputSchema } }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema },
      }));
    expect(sent.reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0)).toBeLessThanOrEqual(450);
  });

  it('refuses an unknown name', () => {
    expect(() => BuiltinToolModule.forRoot(['calc' as 'calculator'])).toThrow(
      'there is no built-in tool "calc"; there are calculator, get_timestamp, string_tools, sequentialthinking.',
    );
  });

  it.each([
    ['none', []],
    ['sequentialthinking, calculator', ['calculator', 'sequentialthinking']],
  ])('registers the tools of BUILTIN_TOOLS=%s', async (names, tools) => {
    @Module({
      imports: [
        AppConfigModule.forRoot({ BUILTIN_TOOLS: names }),
        ToolPortsModule,
        ToolModule,
        BuiltinToolModule.forRoot(),
      ],
    })
    class OtherModule {}
    const other = await NestFactory.createApplicationContext(OtherModule, { logger: false });
    expect(
      other
        .get(ToolRegistry)
        .list()
        .map(({ definition }) => definition.name),
    ).toEqual(tools);
    await other.close();
  });

  it.each<[string, unknown, unknown]>([
    ['calculator', { expression: '100 + 200' }, { result: '300' }],
    ['calculator', { expression: '1/0' }, { error: 'Division by zero.' }],
    ['get_timestamp', { format: 'epoch_ms' }, { result: expect.any(Number) }],
    ['get_timestamp', { format: 'rfc' }, { error: expect.stringMatching(/^Unknown format/) }],
    ['string_tools', { text: 'upper: hello' }, { result: 'HELLO' }],
    ['string_tools', { operation: 'shout', text: 'a' }, { code: 'TOOL_INVALID_ARGUMENTS' }],
  ])('executes %s with %j', async (name, args, result) => {
    expect(await call(name, args)).toMatchObject(result as object);
  });
});
