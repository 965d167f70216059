import { afterEach, describe, expect, it } from 'vitest';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AgentService,
  type ChatReply,
  JackdawModule,
  type JackdawOptions,
  type Agent,
  type CreateAgentOptions,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { calls, says, ScriptedChatModel, type Scripted } from './support/scripted-chat-model.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = (await testServers()).filter(({ kind }) => kind === 'mariadb');
const host = new AgentHost();
afterEach(() => host.stop());

type Env = Record<string, string>;

function start(env: Env, script: readonly Scripted[], options: CreateAgentOptions = {}): Promise<Agent> {
  return host.start({ config: env, ...options }, script);
}

/** A tool that counts its calls; they end when the test releases them. */
function addTill(agent: Agent, name: string) {
  const called = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const till = { count: 0, called: called.promise, release: released.resolve };
  agent.registerTool({
    name,
    description: 'Pays.',
    parameters: { type: 'object', properties: {} },
    handler: async () => {
      till.count++;
      called.resolve();
      await released.promise;
      return `paid by ${name}`;
    },
  });
  return till;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
}

/** @param environment of one database */
function itShares(environment: () => Env): void {
  it('is opened once for agents that are made at the same time, each with its own tools', async () => {
    const env = environment();
    const [a, b] = await Promise.all([
      start(env, [calls(['a_pay', {}]), says('A.')]),
      start(env, [calls(['b_pay', {}]), says('B.')]),
    ]);
    const tills = [addTill(a, 'a_pay'), addTill(b, 'b_pay')];
    for (const till of tills) till.release();
    const [one, other] = await Promise.all([a.chat('x'), b.chat('y')]);
    expect([one.content, other.content, ...tills.map(({ count }) => count)]).toEqual(['A.', 'B.', 1, 1]);
    const sessions = (await b.sessions.list()).map(({ id }) => id);
    expect(sessions).toEqual(expect.arrayContaining([one.sessionId, other.sessionId]));
  });

  it('stays open for one agent while another one is closed, and is closed with the last one', async () => {
    const env = environment();
    const a = await start(env, []);
    const b = await start(env, [calls(['pay', {}]), says('Paid.'), says('Again.')]);
    const till = addTill(b, 'pay');
    const answer = b.chat('Buy.');
    await till.called;
    await a.close();
    till.release();
    expect((await answer).content).toBe('Paid.');
    expect((await b.chat('x')).content).toBe('Again.');
    await b.close();
    // The settings of the closed applications no longer apply.
    const c = await start({ ...env, RUN_RETENTION_DAYS: '77' }, [says('C.')]);
    expect((await c.chat('x')).content).toBe('C.');
  });

  it('is opened again while the last agent closes it', async () => {
    const env = environment();
    const a = await start(env, [says('A.')]);
    await a.chat('x');
    const [b] = await Promise.all([start(env, [says('B.')]), a.close()]);
    expect((await b.chat('x')).content).toBe('B.');
  });

  it('rejects an application with different settings, with an error that names the variables', async () => {
    const env = environment();
    const a = await start(env, [says('A.')]);
    const given = { ...env, RUN_RETENTION_DAYS: '77', ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` };
    const refused = start(given, []);
    await expect(refused).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
    const { message } = (await refused.catch((error: unknown) => error)) as Error;
    expect(message).toMatch(/open in this process.*ENCRYPTION_KEYS.*RUN_RETENTION_DAYS.*DATA_DIR/s);
    // The random name of the test's database may contain these digits.
    expect(message.replace(/jackdaw_test_\w+/g, '')).not.toContain('77');
    expect((await a.chat('x')).content).toBe('A.');
  });

  it('has each run executed once, by the agent that was asked, whatever agent starts meanwhile', async () => {
    const env = environment();
    const a = await start(env, [calls(['pay', {}]), says('Paid.'), says('Next.')]);
    const till = addTill(a, 'pay');
    const first = a.chat('Buy.', { sessionId: 'queued' });
    await till.called;
    const queued = a.chat('And then?', { sessionId: 'queued' });
    const b = await start(env, []);
    till.release();
    expect([(await first).content, (await queued).content]).toEqual(['Paid.', 'Next.']);
    expect(till.count).toBe(1);
    await b.close();
  });

  it('keeps the order of a session in which both agents are asked', async () => {
    const env = environment();
    const a = await start(env, [calls(['pay', {}]), says('Paid.')]);
    const b = await start(env, [says('B.')]);
    const till = addTill(a, 'pay');
    const first = a.chat('Buy.', { sessionId: 'both' });
    await till.called;
    const second = b.chat('x', { sessionId: 'both' });
    till.release();
    expect([(await first).content, (await second).content]).toEqual(['Paid.', 'B.']);
    const turns = await b.session('both').turns();
    expect(turns.map(({ messages }) => messages.at(-1)?.content)).toEqual(['Paid.', 'B.']);
  });

  it('lets one agent approve a call of the other agent: the other one resumes the run with its own tools', async () => {
    const env = environment();
    const a = await start(env, [calls(['pay', {}]), says('Paid.')], { approvals: ['pay'] });
    const b = await start(env, []);
    const till = addTill(a, 'pay');
    till.release();
    const { runId, waiting } = await a.chat('Buy.');
    expect(waiting).toHaveLength(1);
    expect((await b.approve(runId)).content).toBe('Paid.');
    expect(till.count).toBe(1);
  });
}

describe('the database of several agents in one process', () => {
  describe('on SQLite', () => {
    itShares(() => host.environment());

    describe('when an agent is closed whose run has not ended', () => {
      /** Closes an agent during its run. @returns the id of the unfinished run */
      async function leaveRun(env: Env, name: string, meanwhile: () => unknown = () => undefined): Promise<string> {
        const asked = Promise.withResolvers<void>();
        const reply: Scripted = (_request, signal) => (asked.resolve(), untilAborted(signal!));
        const agent = await start({ ...env, SHUTDOWN_TIMEOUT_MS: '0' }, [reply], { name });
        const failure = agent.chat('Buy.', { sessionId: 's' }).catch((error: unknown) => error);
        await asked.promise;
        meanwhile();
        await agent.close();
        const { code, details } = (await failure) as { code: string; details: { run_id: string } };
        expect(code).toBe('SHUTTING_DOWN');
        return details.run_id;
      }

      it('is resumed by the next agent of its name, not by others', async () => {
        const env = host.environment();
        const writer = await start(env, [says('W.')], { name: 'writer' });
        const runId = await leaveRun(env, 'buyer');
        await start(env, [], { name: 'reader' });
        const completed = Promise.withResolvers<string>();
        const telemetry: CreateAgentOptions['telemetry'] = ({ runId: id, event }) => {
          if (event.type === 'run.completed') completed.resolve(id);
        };
        await start(env, [says('Bought.')], { name: 'buyer', telemetry });
        expect(await completed.promise).toBe(runId);
        expect((await writer.chat('x', { sessionId: 's' })).content).toBe('W.');
        const turns = await writer.session('s').turns();
        expect(turns.map(({ messages }) => messages.at(-1)?.content)).toEqual(['Bought.', 'W.']);
      });

      it('is resumed by another one that was asked in its session before', async () => {
        const env = host.environment();
        const writer = await start(env, [says('Resumed.'), says('W.')], { name: 'writer' });
        let queued: Promise<ChatReply> | undefined;
        await leaveRun(env, 'buyer', () => (queued = writer.chat('x', { sessionId: 's' })));
        expect((await queued)?.content).toBe('W.');
      });

      it('is resumed by another one that is asked in its session', async () => {
        const env = host.environment();
        const writer = await start(env, [says('Resumed.'), says('W.')], { name: 'writer' });
        await leaveRun(env, 'buyer');
        expect((await writer.chat('x', { sessionId: 's' })).content).toBe('W.');
        const turns = await writer.session('s').turns();
        expect(turns.map(({ messages }) => messages.at(-1)?.content)).toEqual(['Resumed.', 'W.']);
      });
    });

    it('is shared by Nest applications, too', async () => {
      const env = host.environment();
      const open = (reply: string) =>
        NestFactory.createApplicationContext(
          JackdawModule.forRoot({ config: env, chatModel: new ScriptedChatModel([says(reply)]), agentsDir: false }),
          { logger: false, abortOnError: false },
        );
      const apps = await Promise.all([open('A.'), open('B.')]);
      const ann = { id: 'ann', tenant: 'default', roles: ['user'] };
      const answers = await Promise.all(apps.map((app) => app.get(AgentService).chat(ann, { query: 'x' })));
      await Promise.all(apps.map((app) => app.close()));
      await apps[0].close();
      expect(answers.map(({ result }) => result)).toEqual(['A.', 'B.']);
    });

    describe('of an application that imports forRoot twice', () => {
      const ann = { id: 'ann', tenant: 'default', roles: ['user'] };

      function open(root: JackdawOptions, feature: JackdawOptions) {
        class Feature {}
        Module({ imports: [JackdawModule.forRoot(feature)] })(Feature);
        class Root {}
        Module({ imports: [JackdawModule.forRoot(root), Feature] })(Root);
        return NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
      }

      it('has one Jackdaw when the options are equal', async () => {
        const env = host.environment();
        const chatModel = new ScriptedChatModel([says('A.')]);
        const app = await open({ config: env, chatModel }, { config: { ...env }, chatModel });
        const answer = await app.get(AgentService, { strict: false }).chat(ann, { query: 'x' });
        await app.close();
        expect(answer.result).toBe('A.');
      });

      it('fails with the remedy when they differ', async () => {
        const config = host.environment();
        const refused = open({ config }, { config, builtinTools: false });
        await expect(refused).rejects.toMatchObject({
          code: 'CONFIG_INVALID',
          message: expect.stringMatching(/imported twice.*JackdawModule\.forFeature/s),
        });
      });

      it('takes the variables of each time that it is imported', async () => {
        const options = { config: host.environment() };
        const before = JackdawModule.forRoot(options);
        expect(JackdawModule.forRoot({ config: { ...options.config } })).toBe(before);
        expect(JackdawModule.forRoot({ config: { ...options.config, SESSION_BUSY: 'reject' } })).not.toBe(before);
      });
    });

    it('is not shared when it is in memory', async () => {
      const env = { ...host.environment(), DATABASE_URL: 'sqlite::memory:' };
      const a = await start(env, [says('A.')]);
      const b = await start(env, [says('B.')]);
      await a.chat('x');
      expect(await b.sessions.list()).toEqual([]);
    });
  });

  describeDatabases('on a server', servers, (created) => {
    itShares(() => ({ ...host.environment(), DATABASE_URL: created().url }));
  });
});
