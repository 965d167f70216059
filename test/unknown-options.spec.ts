import { describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { createAgent, JackdawModule, serve, Tool } from '../src/index.js';
import { buildIfStale } from './support/process.js';

/** The options of an untyped caller. */
const untyped = (options: object) => options as never;

/** An option without effect is a mistake of the caller, in TypeScript and in JavaScript. */
describe('unknown options', () => {
  it.each([
    ['JackdawModule.forRoot', () => JackdawModule.forRoot(untyped({ builtInTools: true })), 'builtinTools'],
    [
      'JackdawModule.forRootAsync',
      () => JackdawModule.forRootAsync(untyped({ inject: [], useFactori: () => ({}) })),
      'useFactory',
    ],
    ['JackdawModule.forFeature', () => JackdawModule.forFeature(untyped({ tool: [] })), 'tools'],
  ])('are rejected by %s', (entry, call, near) => {
    expect(call).toThrow(`${entry}: unknown option`);
    expect(call).toThrow(`did you mean "${near}"?`);
  });

  it('are rejected by serve before anything starts', async () => {
    const started = serve(untyped({ cofig: {} }));
    await expect(started).rejects.toThrow('serve: unknown option "cofig": did you mean "config"?');
  });

  it.each<[object, string]>([
    [{ toolz: [] }, 'createAgent: unknown option "toolz": did you mean "tools"?'],
    [{ llm: { apiType: 'ollama', apiURL: 'x' } }, 'createAgent: llm: unknown option "apiURL": did you mean "apiUrl"?'],
    [{ mcp: { enabled: true, nam: 'x' } }, 'createAgent: mcp: unknown option "nam": did you mean "name"?'],
    [{ config: {}, env: {} }, 'createAgent: config and env are the same option: give config.'],
  ])('are rejected by createAgent: %j', async (options, message) => {
    await expect(createAgent(untyped(options))).rejects.toMatchObject({
      code: 'AGENT_INVALID',
      message,
    });
  });

  it('are rejected in the options of a factory', async () => {
    const { Test } = await import('@nestjs/testing');
    const module = JackdawModule.forRootAsync({ useFactory: () => untyped({ chatmodel: null }) });
    const made = Test.createTestingModule({ imports: [module] }).compile();
    await expect(made).rejects.toThrow('useFactory: unknown option "chatmodel": did you mean "chatModel"?');
  });

  it('are rejected in @Tool', async () => {
    class Shop {
      @Tool(untyped({ description: 'Sells.', efect: 'read' }))
      sell(): string {
        return 'sold';
      }
    }
    const agent = createAgent({
      config: { DATABASE_URL: 'sqlite::memory:', LLM_PROVIDER: 'offline' },
      tools: [new Shop()],
    });
    await expect(agent).rejects.toThrow('Shop.sell: @Tool: unknown option "efect": did you mean "effect"?');
  });

  it('are rejected by chat', async () => {
    const agent = await createAgent({ config: { DATABASE_URL: 'sqlite::memory:', LLM_PROVIDER: 'offline' } });
    const answer = agent.chat('hi', untyped({ sesionId: 'x' }));
    await expect(answer).rejects.toThrow('sesionId is not an option: did you mean "sessionId"?');
    await agent.close();
  });
});

describe('the option env of createAgent', () => {
  it('still gives variables, with one deprecation warning for a process', () => {
    buildIfStale();
    const script = `const { createAgent } = await import('./dist/index.js');
for (const name of ['a', 'b']) {
  const agent = await createAgent({ name, env: { DATABASE_URL: 'sqlite::memory:', LLM_PROVIDER: 'offline' } });
  await agent.close();
}`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stderr.match(/DeprecationWarning: createAgent: the option `env` is named `config`\./g)).toHaveLength(1);
  });
});
