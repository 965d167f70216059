import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Extension, type ExtensionHost, type RunNotice } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { CounterTools } from './support/counter.tool.js';
import { calls, says } from './support/scripted-chat-model.js';

const host = new AgentHost();
beforeAll(() => Logger.overrideLogger(false));
afterEach(() => host.stop());

class Ear {
  readonly heard: unknown[] = [];

  @OnEvent('order.paid')
  paid(data: unknown): void {
    this.heard.push(data);
  }
}

describe('agent.on', () => {
  it('receives the events of runs, until it is removed', async () => {
    const script = [calls(['count', {}]), says('One.'), says('Two.')];
    const agent = await host.start({ tools: [CounterTools] }, script);
    const tools: RunNotice<'tool.*'>[] = [];
    const ends: string[] = [];
    const stop = agent.on('tool.*', (notice) => tools.push(notice));
    agent.on('run.completed', ({ runId, event }) => ends.push(`${runId} ${event.finish_reason}`));
    const first = await agent.chat('Count');
    stop();
    const second = await agent.chat('Again');
    await agent.close();
    expect(tools.map(({ runId, event }) => [runId, event.type, event.tool])).toEqual([
      [first.runId, 'tool.started', 'count'],
      [first.runId, 'tool.completed', 'count'],
    ]);
    expect(ends).toEqual([`${first.runId} stop`, `${second.runId} stop`]);
  });

  it.each(['tool.complete', 'runs.*', 'run.*.x', 'order.*', '', 'a b', null])('refuses %j', async (event) => {
    const agent = await host.start({}, [says('Fine.')]);
    expect(() => agent.on(event as string, () => undefined)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }),
    );
  });
});

describe('agent.dispatch', () => {
  it('calls the listeners of an own event, and waits for them', async () => {
    const agent = await host.start({}, [says('Fine.')]);
    const heard: unknown[] = [];
    const stop = agent.on<{ id: string }>('order.paid', ({ id }) => heard.push(id));
    agent.on('order.paid', async (data) => {
      await new Promise((resolve) => setImmediate(resolve));
      heard.push(data);
    });
    agent.on('order.sent', () => heard.push('never'));
    await agent.dispatch('order.paid', { id: 'o-1' });
    stop();
    await agent.dispatch('order.paid', { id: 'o-2' });
    await agent.dispatch('without:listeners');
    expect(heard).toEqual(['o-1', { id: 'o-1' }, { id: 'o-2' }]);
  });

  it('logs the error of a listener, and calls the others', async () => {
    const errors: unknown[] = [];
    const logger = { log() {}, warn() {}, error: (_data: unknown, message: unknown) => errors.push(message) };
    const agent = await host.start({ logger }, [says('Fine.')]);
    const heard: unknown[] = [];
    agent.on('order.paid', () => {
      throw new Error('the ear aches');
    });
    agent.on('order.paid', (data) => heard.push(data));
    await agent.dispatch('order.paid', 1);
    expect(heard).toEqual([1]);
    expect(errors).toEqual(['A listener of "order.paid" failed: the ear aches']);
  });

  it('reaches extensions and @OnEvent methods, and extensions dispatch too', async () => {
    const ear = new Ear();
    class Shop extends Extension {
      readonly name = 'shop';
      readonly version = '1.0.0';
      readonly heard: unknown[] = [];
      agent!: ExtensionHost;

      override register(agent: ExtensionHost): void {
        this.agent = agent;
        agent.on('order.paid', (data) => this.heard.push(data));
      }
    }
    const shop = new Shop();
    const agent = await host.start({ tools: [ear, CounterTools], extensions: [shop], runEvents: true }, [
      says('Fine.'),
    ]);
    const heard: unknown[] = [];
    agent.on('order.paid', (data) => heard.push(data));
    await agent.dispatch('order.paid', 1);
    await shop.agent.dispatch('order.paid', 2);
    expect([ear.heard, shop.heard, heard]).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it.each(['run.completed', 'tool.own', 'mcp.tools_changed', '**', 'a b'])('refuses %j', async (event) => {
    const agent = await host.start({}, [says('Fine.')]);
    await expect(agent.dispatch(event)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('is refused after close', async () => {
    const agent = await host.start({}, [says('Fine.')]);
    await agent.close();
    await expect(agent.dispatch('order.paid')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(() => agent.on('order.paid', () => undefined)).toThrow(expect.objectContaining({ code: 'SHUTTING_DOWN' }));
  });
});
