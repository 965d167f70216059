import { afterAll, beforeAll, beforeEach } from 'vitest';
import assert from 'node:assert/strict';
import { z } from 'zod';
import { ModelFactory } from '../../src/index.js';
import { parseExportedRun, type ReplayCheck, type ReplayCheckOptions, replayRun } from '../../src/run/replay/index.js';
import { SecurityPolicies, type SecurityPolicy } from '../../src/tool-policy/index.js';
import { type ToolRegistration, ToolRegistry } from '../../src/tool/index.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeReply } from './fake-llm.types.js';
import { startJackdaw, type Jackdaw, type StartOptions } from './jackdaw.js';
import { calls, says, ScriptedChatModel } from './scripted-chat-model.js';
import { WaitingTools } from './waiting.tool.js';

type Definition = NonNullable<NonNullable<StartOptions['options']>['agents']>[number];

const AGENT: Definition = {
  name: 'support',
  model: { provider: 'openai', parameters: { maxTokens: 300 } },
  instructions: 'You answer questions about orders. Be brief.',
};
const AIDE: Definition = { name: 'aide', description: 'Helps.', model: { provider: 'openai' } };

/** Changes to the application that recorded a run. */
export interface Changes {
  readonly agent?: Partial<Definition>;
  /** `null` removes the tool. */
  readonly ship?: Partial<ToolRegistration> | null;
  readonly policy?: SecurityPolicy;
  readonly env?: StartOptions['env'];
}

/** A provider without an API: its models receive the requests of the loop. */
class ScriptedFactory extends ModelFactory {
  readonly name = 'scripted';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = 'scripted-1';

  create(): ScriptedChatModel {
    return new ScriptedChatModel([calls(['ship', { id: 'o-1' }]), says('It is shipped.')]);
  }
}

/** A reply that calls one tool. */
export function callOf(name: string, args: Readonly<Record<string, unknown>>): FakeReply {
  return { text: '', calls: [{ name, arguments: args }] };
}

/** The replies of a run that calls `ship`. */
export const SHIPPING: readonly FakeReply[] = [callOf('ship', { id: 'o-1' }), { text: 'It is shipped.' }];

/** An application that records runs, and applications with changes that replay them. */
export class ReplayWorld {
  llm!: FakeLlm;
  source!: Jackdaw;
  /** Executed calls of `ship`. */
  readonly shipped: string[] = [];
  private readonly opened: Jackdaw[] = [];

  /** Call it at the top of a spec. */
  static prepare(): ReplayWorld {
    const world = new ReplayWorld();
    beforeAll(async () => {
      world.llm = await FakeLlm.start();
      world.source = await world.open();
    });
    beforeEach(() => {
      world.llm.reset();
      world.shipped.length = 0;
    });
    afterAll(async () => {
      for (const jackdaw of world.opened) await jackdaw.stop();
      await world.llm.close();
    });
    return world;
  }

  async open({ agent, ship = {}, policy, env = {} }: Changes = {}): Promise<Jackdaw> {
    const options = { agents: [{ ...AGENT, ...agent }, AIDE], modelFactories: [new ScriptedFactory()] };
    const jackdaw = await startJackdaw({ llm: this.llm, tools: [new WaitingTools()], env, options });
    if (ship) jackdaw.app.get(ToolRegistry).register({ ...this.ship(), ...ship });
    if (policy) await jackdaw.app.get(SecurityPolicies).set(policy);
    this.opened.push(jackdaw);
    return jackdaw;
  }

  /** Asks the agent, and returns the id of the run. */
  async ask(query = 'Ship o-1', server = this.source): Promise<string> {
    const { body } = await server.chat({ query, agent: 'support' });
    return String(body['run_id']);
  }

  async exportOf(runId: string, server = this.source): Promise<string> {
    const { status, text } = await server.get(`/api/runs/${runId}/export`);
    assert.equal(status, 200, text);
    return text;
  }

  /** Asks the agent, and exports the run. */
  async record(query?: string, server?: Jackdaw): Promise<string> {
    return this.exportOf(await this.ask(query, server), server);
  }

  /** Checks an export, and expects that no model and no tool is called. */
  async checkAt(server: Jackdaw, exported: string, options?: ReplayCheckOptions): Promise<ReplayCheck> {
    const before = [this.llm.requests.length, this.shipped.length];
    const check = await replayRun(server.app, parseExportedRun(exported), options);
    assert.deepEqual([this.llm.requests.length, this.shipped.length], before);
    return check;
  }

  /** The check of a run of the source at an application with changes. */
  async changed(changes: Changes, replies = SHIPPING): Promise<ReplayCheck> {
    this.llm.reply(...replies);
    const text = await this.record();
    return this.checkAt(await this.open(changes), text);
  }

  private ship(): ToolRegistration {
    return {
      name: 'ship',
      description: 'Ships an order.',
      effect: 'idempotent',
      parameters: z.object({ id: z.string(), limit: z.number().default(10) }),
      handler: ({ id }: { id: string }) => {
        this.shipped.push(id);
        return `shipped ${id}`;
      },
    };
  }
}
