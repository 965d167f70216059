import { afterEach, describe, expect, it } from 'vitest';
import { ConsoleLogger, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AgentService,
  createAgent,
  JackdawModule,
  Processor,
  PromptBuilder,
  RunService,
  SessionService,
  Tool,
  ToolRegistry,
  UserErasureService,
  type Agent,
  type Loop,
  type RunEvent,
} from '../src/index.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

/** The logger is silent, because the errors of these tests are intended. */
const logger = new ConsoleLogger({ logLevels: [] });
const folders: string[] = [];
const env = () => {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-embedding-'));
  folders.push(folder);
  return { DATA_DIR: folder, LLM_PROVIDER: 'offline', API_KEYS: '' };
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

class WeatherTools {
  @Tool({ description: 'Reports the weather.', effect: 'read', paramsDescription: 'The city' })
  weather(city: string): string {
    return `Sunny in ${city}`;
  }
}

describe('createAgent', () => {
  it('answers with its tools, remembers the session and publishes run events', async () => {
    const model = new ScriptedChatModel([
      calls(['weather', { input: 'Oslo' }]),
      says('It is sunny.'),
      says('As I said.'),
    ]);
    const agent = await createAgent({
      logger,
      config: env(),
      chatModel: model,
      tools: [new WeatherTools()],
      instructions: 'Be brief.',
    });
    const first = await agent.chat('How is Oslo?');
    expect(first).toMatchObject({ content: 'It is sunny.', finishReason: 'stop', isComplete: true, iterations: 2 });
    const events: RunEvent[] = [];
    await agent.stream('Sure?', (event) => events.push(event), { sessionId: first.sessionId! });
    expect(events.map(({ type }) => type)).toContain('message.delta');
    expect(events.at(-1)).toMatchObject({ type: 'run.completed', result: 'As I said.' });
    expect(model.requests[2]!.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    await agent.close();
  });

  it('throws the error of a failed run with its code', async () => {
    const agent = await createAgent({ logger, config: env(), chatModel: new ScriptedChatModel([new Error('a bug')]) });
    await expect(agent.chat('hi')).rejects.toMatchObject({
      name: 'AppError',
      code: 'INTERNAL',
      details: { finish_reason: 'error' },
    });
    await agent.close();
  });

  it('refuses a blank message', async () => {
    const agent = await createAgent({ logger, config: env(), chatModel: new ScriptedChatModel([]) });
    await expect(agent.chat(' \n')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    await agent.close();
  });

  it('is not blocked by a model that ignores its abort signal, neither at a timeout nor in close', async () => {
    const deaf = () => new Promise<never>(() => undefined);
    const limits = { runTimeoutMs: 50 };
    const timed = await createAgent({ logger, config: env(), chatModel: new ScriptedChatModel([deaf]), limits });
    await expect(timed.chat('hi')).rejects.toMatchObject({ code: 'RUN_TIMEOUT' });
    await timed.close();
    const closed: Agent = await createAgent({
      logger,
      config: { ...env(), SHUTDOWN_TIMEOUT_MS: '1' },
      chatModel: new ScriptedChatModel([deaf]),
    });
    const asked = closed.chat('hi').catch((error: unknown) => error);
    await closed.close();
    expect(await asked).toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('manages its sessions and creates conversation memories', async () => {
    const agent = await createAgent({
      logger,
      config: env(),
      chatModel: new ScriptedChatModel([says('one'), says('two')]),
    });
    const { id } = await agent.sessions.create({ metadata: { about: 'tests' } });
    await agent.chat('first', { sessionId: id });
    expect(await agent.sessions.get(id)).toMatchObject({ messageCount: 2, metadata: { about: 'tests' } });
    await agent.sessions.setMetadata(id, { about: 'more' });
    const exported = await agent.sessions.export(id);
    await agent.sessions.clear(id);
    expect(await agent.sessions.turns(id)).toEqual([]);
    await agent.sessions.delete(id);
    await expect(agent.sessions.get(id)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await agent.sessions.import(exported, 'copy');
    const memory = await agent.createMemory({ maxMessages: 10 });
    await memory.restore('copy');
    await memory.addMessage({ role: 'user', content: 'by hand' });
    await memory.persist('copy');
    await agent.sessions.pin('copy', 2);
    const [first, second] = await agent.sessions.turns('copy');
    expect([first!.messages[1]!.content, second!.messages[0]!.content]).toEqual(['one', 'by hand']);
    expect((await agent.sessions.list({ limit: 5 })).map((session) => session.id)).toEqual(['copy']);
    expect(await agent.sessions.prune(1)).toEqual({ deleted: 0, held: 0 });
    expect(await agent.sessions.eraseUser('local')).toMatchObject({ sessions: 1, runs: 1 });
    expect(await agent.sessions.list()).toEqual([]);
    await agent.close();
  });

  it('works in the environment of a server with API keys', async () => {
    const API_KEYS = `ci:acme:user:${'0'.repeat(64)}`;
    const agent = await createAgent({
      config: { ...env(), API_KEYS },
      chatModel: new ScriptedChatModel([says('fine')]),
    });
    expect((await agent.chat('hi')).content).toBe('fine');
    await agent.close();
  });
});

describe('a host application', () => {
  it('injects the services, finds tools of its providers and uses a custom prompt builder', async () => {
    class LoudPrompts extends PromptBuilder {
      override build(instructions: string): string {
        return instructions.toUpperCase();
      }
    }

    @Injectable()
    class Host {
      constructor(
        readonly agents: AgentService,
        readonly runs: RunService,
        readonly sessions: SessionService,
        readonly tools: ToolRegistry,
        readonly users: UserErasureService,
      ) {}
    }

    const model = new ScriptedChatModel([calls(['weather', { input: 'Rome' }]), says('warm')]);
    class ShoutProcessor extends Processor {
      readonly name = 'shout';
      async process(loop: Loop): Promise<void> {
        for (const [index, result] of loop.results) {
          if (!result.success || typeof result.result !== 'string') continue;
          loop.results.set(index, { ...result, result: result.result.toUpperCase() });
        }
      }
    }

    const options = {
      config: env(),
      chatModel: model,
      promptBuilder: LoudPrompts,
      processors: [{ use: ShoutProcessor, before: 'format-results' }],
      agentChanges: { instructions: 'be loud' },
    };
    @Module({ imports: [JackdawModule.forRoot(options)], providers: [Host, WeatherTools] })
    class HostModule {}

    const app = await NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false });
    const host = app.get(Host);
    const principal = { id: 'anna', tenant: 'acme', roles: [] };
    const answer = await host.agents.chat(principal, { query: 'Rome?', sessionId: 'trip' });
    expect(answer).toMatchObject({ status: 'completed', result: 'warm', session_id: 'trip' });
    expect(await host.sessions.get(principal, 'trip')).toMatchObject({ owner: 'anna', lastTurn: 1 });
    expect(await host.runs.get(principal, answer.run_id)).toMatchObject({ tenant: 'acme' });
    expect(host.tools.has('weather')).toBe(true);
    expect(model.requests[0]!.messages[0]).toEqual({ role: 'system', content: 'BE LOUD' });
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ role: 'tool', content: 'SUNNY IN ROME' });
    expect(await host.users.erase(principal, 'anna')).toMatchObject({ sessions: 1, runs: 1, turns: 0 });
    await expect(host.sessions.get(principal, 'trip')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await app.close();
  });
});
