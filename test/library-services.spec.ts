import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Body, Controller, Get, Headers, type INestApplication, Module, Param, Post, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { type Observable, take } from 'rxjs';
import {
  AgentForkService,
  AgentService,
  JackdawModule,
  RunHistoryService,
  RunService,
  type RunMessage,
  SecurityPolicies,
  ToolSwitchService,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { ScriptedChatModel, says } from './support/scripted-chat-model.js';

const ANN = { id: 'ann', tenant: 'a', roles: ['admin'] };
const BOB = { id: 'bob', tenant: 'a', roles: ['user'] };

@Controller('questions')
class QuestionController {
  constructor(private readonly agents: AgentService) {}

  @Post()
  async ask(@Body() { query }: { query: string }) {
    const { id } = await this.agents.submit(ANN, { query });
    return { runId: id };
  }

  @Sse(':id/events')
  events(@Param('id') runId: string, @Headers('last-event-id') lastEventId?: string): Observable<RunMessage> {
    return this.agents.events(ANN, { runId, lastEventId });
  }

  @Get('plain')
  plain() {
    return {};
  }
}

/** The services that an application injects, with the rules of the REST API. */
describe('the services of an application', () => {
  const host = new AgentHost();
  let app: INestApplication;
  let url = '';

  beforeAll(async () => {
    const chatModel = new ScriptedChatModel(Array.from({ length: 8 }, (_, at) => says(`answer ${at}`)));
    const jackdaw = JackdawModule.forRoot({
      config: host.environment(),
      chatModel,
      builtinTools: ['calculator'],
      securityPolicy: { content: { emails: { output: 'mask' }, secrets: { output: 'block' } } },
    });
    @Module({ imports: [jackdaw], controllers: [QuestionController] })
    class Shop {}
    app = await NestFactory.create(Shop, new ExpressAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await app.close();
    await host.stop();
  });

  async function ask(): Promise<string> {
    const reply = await fetch(`${url}/questions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"hi"}',
    });
    return ((await reply.json()) as { runId: string }).runId;
  }
  const stream = async (runId: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/questions/${runId}/events`, { headers })).text();

  it('stream the events of a run by @Sse, and resume after Last-Event-ID', async () => {
    const runId = await ask();
    const whole = await stream(runId);
    expect(whole).toMatch(/^\s*event: run\.started\nid: 1\ndata: \{"type":"run\.started"/);
    expect(whole).toContain('event: run.completed');
    const rest = await stream(runId, { 'last-event-id': '1' });
    expect(rest).not.toContain('event: run.started');
    expect(rest).toContain('event: run.completed');
  });

  it('do not cancel a run when a subscriber leaves', async () => {
    const agents = app.get(AgentService, { strict: false });
    const first = await new Promise<RunMessage>((resolve, reject) => {
      agents.events(ANN, { query: 'hi' }).pipe(take(1)).subscribe({ next: resolve, error: reject });
    });
    const { run_id } = JSON.parse(first.data) as { run_id: string };
    expect(await agents.outcome(ANN, run_id)).toMatchObject({ status: 'completed' });
  });

  it('iterate over the messages of a run', async () => {
    const types: string[] = [];
    for await (const { type } of app.get(AgentService, { strict: false }).messages(ANN, { query: 'hi' }))
      types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['run.started', 'run.completed']);
  });

  it('report an unknown run and an unknown position as errors of the observable', async () => {
    const agents = app.get(AgentService, { strict: false });
    const failure = (position: { runId: string; lastEventId?: string }) =>
      new Promise((resolve) => agents.events(ANN, position).subscribe({ error: resolve }));
    expect(await failure({ runId: 'absent' })).toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(await failure({ runId: await ask(), lastEventId: 'x' })).toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('list runs page by page, and show a principal its own ones only', async () => {
    const history = app.get(RunHistoryService, { strict: false });
    await ask();
    const { runs, next } = await history.list(ANN, { limit: 1 });
    expect(runs).toHaveLength(1);
    const rest = await history.list(ANN, { limit: 50, after: next! });
    expect(rest.runs.map(({ id }) => id)).not.toContain(runs[0]!.id);
    expect((await history.list(BOB)).runs).toEqual([]);
    await expect(history.journal(BOB, runs[0]!.id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  it('read the journal and the usage of runs, and fork one', async () => {
    const history = app.get(RunHistoryService, { strict: false });
    const agents = app.get(AgentService, { strict: false });
    const { run_id } = await agents.chat(ANN, { query: 'hi' });
    const journal = await history.journal(ANN, run_id);
    expect(journal.steps.map(({ name }) => name)).toContain('model:1');
    expect((await history.usage(ANN, { by: 'model' })).total.calls).toBeGreaterThan(0);
    const forked = await app.get(AgentForkService, { strict: false }).fork(ANN, run_id, { fromStep: 'model:1' });
    expect(await agents.outcome(ANN, forked)).toMatchObject({ status: 'completed', forked_from: run_id });
    expect(await app.get(RunService, { strict: false }).get(ANN, forked)).toMatchObject({ forkedFrom: run_id });
  });

  it('switch tools off and on', async () => {
    const switches = app.get(ToolSwitchService, { strict: false });
    await switches.disable(ANN, 'calculator');
    expect([...(await switches.disabled('a'))]).toEqual(['calculator']);
    await switches.enable(ANN, 'calculator');
    expect([...(await switches.disabled('a'))]).toEqual([]);
  });

  it('filter content by the rules of the policy', () => {
    const policies = app.get(SecurityPolicies, { strict: false });
    expect(policies.filterContent('Write to ann@example.org.')).not.toContain('ann@example.org');
    expect(policies.filterContent('Nothing to hide.')).toBe('Nothing to hide.');
    expect(() => policies.filterContent('AKIAIOSFODNN7EXAMPLE')).toThrow('secret');
  });
});
