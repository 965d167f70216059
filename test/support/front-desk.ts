import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AgentRegistry, ToolRegistry, type AgentDefinitionInput, type JackdawOptions } from '../../src/index.js';

const model = { provider: 'openai' };

/** Three agents: the desk asks the researcher, and hands over to billing. */
const agents: AgentDefinitionInput[] = [
  {
    name: 'desk',
    instructions: 'You receive guests. Ask the researcher for facts; bills are for billing.',
    model,
    subAgents: ['researcher'],
    handoffs: ['billing'],
  },
  { name: 'researcher', description: 'Knows the town: sights, trains, weather.', model, tools: ['get_timestamp'] },
  { name: 'billing', description: 'Knows what guests owe.', model, tools: ['ask_expert'] },
];

/** An agent as a tool like any other: in a list of tools, under policies, with approval. */
@Injectable()
class Experts implements OnModuleInit {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly registry: AgentRegistry,
  ) {}

  onModuleInit(): void {
    this.tools.register(this.registry.asTool('researcher', { name: 'ask_expert', approval: 'always' }));
  }
}

/** For `serve(frontDesk)`, or `JackdawModule.forRoot(frontDesk)`. */
export const frontDesk: JackdawOptions = { agents, tools: [Experts] };
