import { afterEach, describe, expect, it } from 'vitest';
import type { ExtensionHost } from '../src/index.js';
import { AgentHost, NotingExtension } from './support/agent-host.js';
import { gate } from './support/jackdaw.js';
import { calls, says } from './support/scripted-chat-model.js';

const host = new AgentHost();
afterEach(() => host.stop());

const ping = { name: 'ping', description: 'Pings.', handler: () => 'pong' };

describe('an extension that is added to a running agent', () => {
  class Pinging extends NotingExtension {
    override async register(ours: ExtensionHost): Promise<void> {
      ours.registerTool(ping);
    }
  }

  it('is available for the next question', async () => {
    const agent = await host.start({}, [calls(['ping', {}]), says('first'), calls(['ping', {}]), says('second')]);
    const received: unknown[] = [];
    const listen = (query: string) =>
      agent.stream(query, (event) => event.type === 'tool.completed' && received.push(event.result ?? event.code));
    await listen('before');
    expect(await agent.use(new Pinging('ping', [], []))).toBe(agent);
    await listen('after');
    expect(received).toEqual(['TOOL_NOT_FOUND', 'pong']);
  });

  it('leaves no tool and no listener behind when it fails, and can be added again', async () => {
    const agent = await host.start({}, [calls(['ping', {}]), says('done')]);
    const heard: string[] = [];
    class HalfDone extends Pinging {
      isReady = false;
      override async register(ours: ExtensionHost): Promise<void> {
        await super.register(ours);
        ours.on('**', ({ event }) => heard.push(event.type));
        if (!this.isReady) ours.registerAgent({ name: 'half', model: { provider: 'offline' }, tools: ['no_such'] });
      }
    }
    const half = new HalfDone('half', [], []);
    await expect(agent.use(half)).rejects.toThrow('failed in registerAgent: Agent "half": There is no tool "no_such".');
    await agent.chat('go');
    expect(heard).toEqual([]);
    half.isReady = true;
    await agent.use(half);
    await expect(agent.use(half)).rejects.toThrow('2 extensions are named "half"');
  });

  it('is shut down when it fails, and an error of its shutdown does not hide the first one', async () => {
    const notes: string[] = [];
    const warn = (text: string) => notes.push(text);
    const agent = await host.start({ logger: { log: () => undefined, error: warn, warn } });
    class Broken extends NotingExtension {
      override async boot(): Promise<void> {
        await super.boot();
        throw new Error('no answer');
      }
      override onApplicationShutdown(): void {
        super.onApplicationShutdown();
        throw new Error('nothing to end');
      }
    }
    // Discards the possible warning of a slow disk.
    notes.splice(0);
    await expect(agent.use(new Broken('broken', [], notes))).rejects.toThrow('failed in boot: no answer');
    expect(notes).toEqual([
      'register broken',
      'boot broken',
      'end broken',
      expect.stringContaining('after its failed start failed: nothing to end'),
    ]);
  });

  it('reserves its name at once', async () => {
    const agent = await host.start({});
    const { opened, open } = gate();
    class Slow extends NotingExtension {
      override async boot(): Promise<void> {
        await opened;
      }
    }
    const first = agent.use(new Slow('slow', [], []));
    await expect(agent.use(new Slow('slow', [], []))).rejects.toMatchObject({ code: 'EXTENSION_INVALID' });
    open();
    await first;
  });
});
