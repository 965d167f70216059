import { afterEach, describe, expect, it } from 'vitest';
import { Injectable, Module, Scope } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { readFileSync } from 'node:fs';
import {
  createAgent,
  Extension,
  JackdawModule,
  MemoryPolicy,
  Processor,
  Tool,
  ToolPolicy,
  type CreateAgentOptions,
  type ExtensionHost,
} from '../src/index.js';
import { ExtensionLoader } from '../src/extension/index.js';
import { AcmeFactory } from './support/acme.factory.js';
import { AuditExtension } from './support/audit-extension.js';
import { AgentHost, NotingExtension } from './support/agent-host.js';
import { FakeLlm } from './support/fake-llm.js';
import { calls, says } from './support/scripted-chat-model.js';

const host = new AgentHost();
afterEach(() => host.stop());

class Failing extends NotingExtension {
  override async boot(): Promise<void> {
    throw new Error('the pipe burst');
  }
}

const ping = { name: 'ping', description: 'Pings.', handler: () => 'pong' };

describe('the example of docs/extensions.md', () => {
  it('has the code of this test', () => {
    const code = readFileSync('test/support/audit-extension.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(readFileSync('docs/extensions.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });

  it('has a registered tool, run events and @OnEvent methods from its start to its end', async () => {
    const audit = new AuditExtension();
    const agent = await host.start({ extensions: [audit], runEvents: true }, [
      calls(['audit_note', { text: 'the roof leaks' }]),
      says('Noted.'),
    ]);
    const { runId } = await agent.chat('Note it.');
    await host.stop();
    expect(audit.lines.map((line) => line.replace(/took \d+/, 'took 0'))).toEqual([
      'the audit begins',
      `${runId}: run.started`,
      'local noted: the roof leaks',
      'default: audit_note took 0 ms',
      `${runId}: run.completed`,
      'the audit ends',
    ]);
  });
});

describe('extensions', () => {
  it('register, then boot, each after its dependencies, and end with the application', async () => {
    const notes: string[] = [];
    const agent = await host.start({
      extensions: [new NotingExtension('top', ['base@^1.0.0'], notes), new NotingExtension('base', [], notes)],
    });
    await agent.use(new NotingExtension('late', ['top'], notes));
    await host.stop();
    const order = ['base', 'top'];
    expect(notes.slice(0, 4)).toEqual([
      ...order.map((name) => `register ${name}`),
      ...order.map((name) => `boot ${name}`),
    ]);
    expect(notes.slice(4, 6)).toEqual(['register late', 'boot late']);
    expect(notes.slice(6).toSorted()).toEqual(['end base', 'end late', 'end top']);
  });

  it('can register tools, policies, processors, memory and agents', async () => {
    const seen: string[] = [];
    class Everything extends Extension {
      readonly name = 'everything';
      readonly version = '1.0.0';

      override register(agent: ExtensionHost): void {
        agent.registerTool(ping);
        agent.registerToolPolicy(
          new (class extends ToolPolicy {
            readonly name = 'no-shout';
            decide({ tool }: Parameters<ToolPolicy['decide']>[0]) {
              return tool.definition.name === 'shout' ? ({ deny: 'it is night' } as const) : 'allow';
            }
          })(),
        );
        agent.registerProcessor(
          new (class extends Processor {
            readonly name = 'see';
            async process({ iteration }: Parameters<Processor['process']>[0]) {
              seen.push(`iteration ${iteration}`);
            }
          })(),
          { before: 'ask-model' },
        );
        agent.registerMemoryPolicy(
          new (class extends MemoryPolicy {
            readonly name = 'none-at-all';
            query() {
              return { newest: 1, maxMessages: 1, maxTokens: 1, isPlain: false };
            }
            choose() {
              return [];
            }
          })(),
        );
        agent.registerAgent({
          name: 'second',
          model: { provider: 'offline' },
          memory: { policy: 'none-at-all' },
          tools: ['ping'],
        });
      }

      @Tool({ description: 'Shouts.', effect: 'read' })
      shout(): string {
        return 'HO';
      }
    }
    const agent = await host.start({ extensions: [Everything], memory: { policy: 'none-at-all' } }, [
      calls(['ping', {}], ['shout', {}]),
      says('Done.'),
    ]);
    const results: unknown[] = [];
    await agent.stream('go', (event) => {
      if (event.type === 'tool.completed') results.push([event.tool, event.result ?? event.error]);
    });
    expect(results.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
      ['ping', 'pong'],
      ['shout', 'Denied: it is night'],
    ]);
    expect(seen).toEqual(['iteration 1', 'iteration 2']);
  });

  it('can register the provider that the environment names', async () => {
    const llm = await FakeLlm.start();
    class Acme extends Extension {
      readonly name = 'acme';
      readonly version = '1.0.0';
      override register(agent: ExtensionHost): void {
        agent.registerModelFactory(new AcmeFactory());
      }
    }
    const env = { ...host.environment(), LLM_PROVIDER: 'acme', LLM_API_KEY: 'k', LLM_BASE_URL: llm.url };
    const agent = await host.start({ config: env, extensions: [Acme] });
    llm.reply({ text: 'from acme' });
    expect(await agent.chat('hi')).toMatchObject({ content: 'from acme' });
    await llm.close();
  });

  it.each<[string, (notes: string[]) => CreateAgentOptions['extensions'], string]>([
    [
      'that fails',
      (notes) => [new Failing('bad', [], notes)],
      'The extension "bad" 1.0.0 (Failing) failed in boot: the pipe burst',
    ],
    [
      'with a duplicate tool',
      (notes) => [
        new (class Twice extends NotingExtension {
          override async register(agent: ExtensionHost) {
            agent.registerTool(ping);
            agent.registerTool(ping);
          }
        })('twice', [], notes),
      ],
      'The extension "twice" 1.0.0 (Twice) failed in register: Two tools are named "ping"',
    ],
    [
      'that listens to an unknown event',
      (notes) => [
        new (class Deaf extends NotingExtension {
          override async register(agent: ExtensionHost) {
            agent.on('tools.*' as 'tool.*', () => undefined);
          }
        })('deaf', [], notes),
      ],
      'The extension "deaf" 1.0.0 (Deaf) failed in register: The extension "deaf" 1.0.0 (Deaf) listens to "tools.*"',
    ],
    [
      'with a missing dependency',
      (notes) => [new NotingExtension('lone', ['unknown'], notes)],
      'The extension "lone" 1.0.0 (NotingExtension) requires the extension "unknown", which is missing: add it.',
    ],
  ])('refuse the start with the name of one %s', async (_title, extensions, message) => {
    const notes: string[] = [];
    const started = createAgent({ config: host.environment(), extensions: extensions(notes)! });
    await expect(started).rejects.toMatchObject({ code: 'EXTENSION_INVALID' });
    await expect(started).rejects.toThrow(message);
  });

  it('start once as providers of an application and must be unique', async () => {
    const notes: string[] = [];
    const found = new NotingExtension('found', [], notes);
    @Module({
      imports: [JackdawModule.forRoot({ config: host.environment(), recovery: 'manual' })],
      providers: [
        { provide: 'A', useValue: found },
        { provide: 'B', useExisting: 'A' },
      ],
    })
    class OurModule {}
    const context = await NestFactory.createApplicationContext(OurModule, { logger: false, abortOnError: false });
    expect(context.get(ExtensionLoader).list()).toEqual([found]);
    await context.close();
    expect(notes).toEqual(['register found', 'boot found', 'end found']);

    @Injectable({ scope: Scope.REQUEST })
    class Anew extends NotingExtension {
      constructor() {
        super('anew', [], notes);
      }
    }
    @Module({ imports: [JackdawModule.forRoot({ config: host.environment(), recovery: 'manual' })], providers: [Anew] })
    class TheirModule {}
    const refused = NestFactory.createApplicationContext(TheirModule, { logger: false, abortOnError: false });
    await expect(refused).rejects.toThrow('The extension Anew is transient or request-scoped');
  });
});
