import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AgentService, JackdawModule, Tool, ToolRegistry } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { buildIfStale, killAll, program, ServerProcess } from './support/process.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ANN = { id: 'ann', tenant: 'default', roles: ['user'] };
const host = new AgentHost();

afterEach(async () => {
  await killAll();
  await host.stop();
});

describe('the shutdown hooks of a host application', () => {
  beforeAll(() => buildIfStale());

  it.each([
    ['before', 'after'],
    ['after', 'before'],
  ])(
    'hand back an open run when they are enabled %s the start, also to a process that enables them %s it',
    async (first, second) => {
      const { DATA_DIR } = host.environment();
      const one = ServerProcess.start(program('shutdown-hooks'), {}, [DATA_DIR, first]);
      await one.waitForLine('called');
      await one.waitForLine('ready ');
      // Nest repeats the signal after its hooks. A second one of the terminal changes nothing.
      void one.kill('SIGINT');
      expect(await one.kill('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
      expect(one.stderr).toBe('');
      const id = one.url;
      const other = ServerProcess.start(program('shutdown-hooks'), {}, [DATA_DIR, second, id]);
      await other.waitForLine('ready ');
      await other.waitForLine('called');
      expect(other.lines).toContain('Resumed.');
      expect(await other.kill('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
      expect(other.stderr).toBe('');
    },
  );
});

/** An application with a tool and a model of its own. */
async function start(
  name: string,
): Promise<{ readonly app: INestApplicationContext; readonly model: ScriptedChatModel }> {
  @Injectable()
  class OwnTools {
    @Tool({ description: 'The name of the application.', effect: 'read' })
    whoAmI(): string {
      return name;
    }
  }
  const model = new ScriptedChatModel([calls(['whoAmI', {}]), says(`I am ${name}.`)]);
  const config = { ...host.environment(), AGENT_NAME: name, TOOL_TIMEOUT_MS: '1000' };
  const jackdaw = JackdawModule.forRoot({ config, chatModel: model, builtinTools: false });
  @Module({ imports: [jackdaw], providers: [OwnTools] })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  return { app, model };
}

describe('several applications in one process', () => {
  it('have each their own options, tools and store, and end one by one', async () => {
    const names = ['one', 'two', 'three'];
    const started = await Promise.all(names.map(start));
    const answers = await Promise.all(started.map(({ app }) => app.get(AgentService).chat(ANN, { query: 'Who?' })));
    expect(answers).toMatchObject(names.map((agent) => ({ agent, result: `I am ${agent}.` })));
    for (const [at, { app, model }] of started.entries()) {
      expect(model.requests.at(-1)!.messages.at(-1)).toMatchObject({ role: 'tool', content: names[at] });
      await Promise.all([app.close(), app.close()]);
      for (const [next, { app: other }] of started.entries()) {
        if (next <= at) continue;
        expect(await other.get(ToolRegistry).call('whoAmI', {})).toBe(names[next]);
        await expect(other.get(AgentService).outcome(ANN, answers[at]!.run_id)).rejects.toMatchObject({
          code: 'RUN_NOT_FOUND',
        });
      }
    }
  });
});
