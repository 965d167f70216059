import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type INestApplicationContext, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';
import {
  AgentDecisionService,
  AgentService,
  type ChatModel,
  JackdawModule,
  RunService,
  Tool,
  type ToolRequest,
} from '../src/index.js';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { AgentHost } from './support/agent-host.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const host = new AgentHost();
/** The host's storage, as a middleware fills it for each request. */
const requests = new AsyncLocalStorage<string>();
const seen: (string | undefined)[] = [];

@Injectable()
class StaticTools {
  @Tool({ description: 'Notes the request.', effect: 'read', timeoutMs: 10_000, concurrency: 1 })
  async note(): Promise<string> {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(requests.getStore());
    return 'noted';
  }

  @Tool({ description: 'Notes the request after approval.', effect: 'read', approval: 'always' })
  approved(): string {
    seen.push(requests.getStore());
    return 'noted';
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedTools {
  constructor(@Inject(REQUEST) private readonly request: ToolRequest) {}

  @Tool({ description: 'Notes the request.', effect: 'read' })
  scoped(): string {
    seen.push(requests.getStore());
    return this.request.tool;
  }
}

function person(id: string) {
  return { id, tenant: 'a', roles: ['admin'] };
}

let app: INestApplicationContext;

async function start(
  config: Record<string, string>,
  chatModel: ChatModel,
  recovery: 'at-start' | 'manual' = 'at-start',
) {
  const jackdaw = JackdawModule.forRoot({ config, chatModel, recovery, builtinTools: false });
  @Module({ imports: [jackdaw], providers: [StaticTools, ScopedTools] })
  class Shop {}
  app = await NestFactory.createApplicationContext(Shop, { logger: false, abortOnError: false });
  return app.get(AgentService);
}

async function stop(): Promise<void> {
  await app.close();
  await host.stop();
  seen.splice(0);
}

const IDS = ['r1', 'r2', 'r3', 'r4', 'r5'];

/** A reason to queue: a common session, or a limit. */
interface Queue {
  readonly limits?: Record<string, string>;
  readonly sessionId?: string;
}

/** Asks in several requests at once. @returns the requests that the tools saw, sorted */
async function askedTogether(config: Record<string, string>, { limits, sessionId }: Queue): Promise<unknown[]> {
  // Replies by the request, since the order of concurrent runs is free.
  const model = new ScriptedChatModel([]);
  model.generate = ({ messages }) =>
    Promise.resolve(messages.at(-1)?.role === 'user' ? calls(['note', {}]) : says('done'));
  const agents = await start({ ...config, ...limits }, model);
  const session = sessionId !== undefined && { sessionId };
  if (session) await agents.chat(person('ann'), { query: 'first', ...session });
  seen.splice(0);
  const asked = IDS.map((id) => requests.run(id, () => agents.chat(person('ann'), { query: id, ...session })));
  await Promise.all(asked);
  return seen.toSorted((a = '', b = '') => a.localeCompare(b));
}

describe('the AsyncLocalStorage of a host', () => {
  const env = () => host.environment();
  afterEach(stop);

  it('is visible in the tools of a chat and of a background run', async () => {
    const both = calls(['note', {}], ['scoped', {}]);
    const agents = await start(env(), new ScriptedChatModel([both, says('1'), both, says('2')]));
    await requests.run('r1', () => agents.chat(person('ann'), { query: 'go' }));
    expect(seen).toEqual(['r1', 'r1']);
    const { id } = await requests.run('r2', () => agents.submit(person('ann'), { query: 'go' }));
    await agents.outcome(person('ann'), id);
    expect(seen).toEqual(['r1', 'r1', 'r2', 'r2']);
  });

  it.each<[string, Queue]>([
    ['of a session', { sessionId: 's1' }],
    ['of the process', { limits: { RUN_CONCURRENCY: '1' } }],
    ['of a tenant', { limits: { RUN_TENANT_CONCURRENCY: '1' } }],
  ])('is the own one of each request that waits in the queue %s', async (_name, queue) => {
    expect(await askedTogether(env(), queue)).toEqual(IDS);
  });

  it('is that of the approving request when a run resumes', async () => {
    const agents = await start(env(), new ScriptedChatModel([calls(['approved', {}]), says('done')]));
    const { run_id, waiting } = await requests.run('r1', () => agents.chat(person('ann'), { query: 'go' }));
    expect(waiting).toHaveLength(1);
    await requests.run('r2', () => app.get(AgentDecisionService).approve(person('ann'), run_id));
    await agents.outcome(person('ann'), run_id);
    expect(seen).toEqual(['r2']);
  });

  it('is absent in a tool that runs after a recovery', async () => {
    const config = env();
    const mute: ChatModel = new ScriptedChatModel([
      (_request, signal) => new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason))),
    ]);
    const before = await start({ ...config, SHUTDOWN_TIMEOUT_MS: '1' }, mute);
    const { id } = await requests.run('r1', () => before.submit(person('ann'), { query: 'go' }));
    await app.close();
    const after = await start(
      config,
      new ScriptedChatModel([calls(['note', {}], ['scoped', {}]), says('done')]),
      'manual',
    );
    await app.get(RunService).recover();
    expect(await after.outcome(person('ann'), id)).toMatchObject({ result: 'done' });
    expect(seen).toEqual([undefined, undefined]);
  });
});

describeClusters('the AsyncLocalStorage of a host in a cluster', await clusterStores(), (store) => {
  let shared: Record<string, string>;
  beforeAll(async () => {
    shared = await store.open();
  });
  afterAll(() => store.close());
  afterEach(stop);

  it.each<[string, Queue]>([
    ['of a session', { sessionId: 's1' }],
    ['of the process', { limits: { RUN_CONCURRENCY: '1' } }],
  ])('is the own one of each request that waits in the queue %s', async (_name, queue) => {
    expect(await askedTogether({ ...host.environment(), ...shared }, queue)).toEqual(IDS);
  });
});
