import { Controller, Get, Param } from '@nestjs/common';
import { AgentModelFactory, AgentRegistry, selectionOf, type AgentDefinition } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ToolSwitchService } from '../tool-policy/index.js';
import { AgentDto, AgentListDto } from './agent.dto.js';
import { toAgentView } from './agent.mapper.js';
import { NamePipe } from './name.pipe.js';

@Requires('tools:read')
@Controller('agents')
export class AgentController {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly tools: ToolRegistry,
    private readonly switches: ToolSwitchService,
    private readonly models: AgentModelFactory,
  ) {}

  /** All agents, the default agent first. A request selects an agent by `agent`. */
  @Get()
  async list(@CurrentPrincipal() { tenant }: Principal): Promise<AgentListDto> {
    const off = await this.switches.disabled(tenant);
    return { agents: this.agents.list().map((definition) => this.view(definition, off)) };
  }

  /** One agent. */
  @Get(':name')
  async get(@CurrentPrincipal() { tenant }: Principal, @Param('name', NamePipe) name: string): Promise<AgentDto> {
    return this.view(this.agents.get(name).definition, await this.switches.disabled(tenant));
  }

  private view(definition: AgentDefinition, off: ReadonlySet<string>): AgentDto {
    const names = this.tools.available(selectionOf(definition)).map((tool) => tool.definition.name);
    return toAgentView(definition, {
      isDefault: this.agents.names()[0] === definition.name,
      tools: names.filter((name) => !off.has(name)),
      memory: this.models.memoryRules(definition),
    });
  }
}
