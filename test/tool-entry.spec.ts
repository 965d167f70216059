import { afterAll, describe, expect, it } from 'vitest';
import { Inject, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import * as jackdaw from 'jackdaw';
import type {
  AgentService,
  RunHistoryService,
  RunService,
  SessionService,
  ToolStateService,
  WorkflowService,
} from 'jackdaw';
import * as tool from 'jackdaw/tool';

@Injectable()
class DeskTools {
  constructor(
    @Inject(tool.serviceToken('AgentService')) readonly agents: AgentService,
    @Inject(tool.serviceToken('RunService')) readonly runs: RunService,
    @Inject(tool.serviceToken('RunHistoryService')) readonly history: RunHistoryService,
    @Inject(tool.serviceToken('SessionService')) readonly sessions: SessionService,
    @Inject(tool.serviceToken('ToolStateService')) readonly states: ToolStateService,
    @Inject(tool.serviceToken('WorkflowService')) readonly workflows: WorkflowService,
  ) {}

  @tool.Tool({ description: 'The number of open places', effect: 'read' })
  places(): number {
    return 42;
  }
}

describe('the entry jackdaw/tool', () => {
  let close: () => Promise<void> = async () => {};
  afterAll(() => close());

  it('exports the same objects as the package root', () => {
    const names = Object.keys(tool);
    expect(names).toContain('Tool');
    expect(names.filter((name) => Reflect.get(tool, name) !== Reflect.get(jackdaw, name))).toEqual([]);
  });

  it('has tokens of the services, for providers in any module', async () => {
    const imports = [jackdaw.JackdawModule.forRoot({ config: { LLM_PROVIDER: 'offline' } })];
    const app = await (await Test.createTestingModule({ imports, providers: [DeskTools] }).compile()).init();
    close = () => app.close();
    const tools = app.get(DeskTools);
    expect([
      tools.agents instanceof jackdaw.AgentService,
      tools.runs instanceof jackdaw.RunService,
      tools.history instanceof jackdaw.RunHistoryService,
      tools.sessions instanceof jackdaw.SessionService,
      tools.states instanceof jackdaw.ToolStateService,
      tools.workflows instanceof jackdaw.WorkflowService,
    ]).toEqual([true, true, true, true, true, true]);
    const ann = { id: 'ann', tenant: 'default', roles: ['user'] };
    expect((await tools.agents.chat(ann, { query: 'call places' })).result).toContain('42');
  });
});
