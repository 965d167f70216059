import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { ModelStackFactory } from '../llm/index.js';
import { AccessLogService, CurrentPrincipal, Requires } from '../security/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ToolSwitchService } from '../tool-policy/index.js';
import { ToolDto, ToolListDto } from './tool.dto.js';
import { toToolView, type ToolFacts } from './tool.mapper.js';
import { NamePipe } from './name.pipe.js';

@Controller('tools')
export class ToolController {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly switches: ToolSwitchService,
    private readonly access: AccessLogService,
    private readonly models: ModelStackFactory,
  ) {}

  /** All tools, in the order of registration. */
  @Requires('tools:read')
  @Get()
  async list(@CurrentPrincipal() { tenant }: Principal): Promise<ToolListDto> {
    const facts = await this.facts(tenant);
    return { tools: this.tools.list().map((tool) => toToolView(tool, facts)) };
  }

  /** One tool. */
  @Requires('tools:read')
  @Get(':name')
  async get(@CurrentPrincipal() { tenant }: Principal, @Param('name', NamePipe) name: string): Promise<ToolDto> {
    return toToolView(this.tools.get(name), await this.facts(tenant));
  }

  /** Enables a tool for the tenant: at once here, within two seconds on other nodes. */
  @Requires('tools:write')
  @Post(':name/enable')
  @HttpCode(204)
  async enable(@CurrentPrincipal() principal: Principal, @Param('name', NamePipe) name: string): Promise<void> {
    await this.switches.enable(principal, name);
    this.access.record(principal, 'enable', 'tool', name);
  }

  /**
   * Disables a tool for the tenant: at once here, within two seconds on other nodes. Models no longer receive it, and
   * no new call of it starts.
   */
  @Requires('tools:write')
  @Post(':name/disable')
  @HttpCode(204)
  async disable(@CurrentPrincipal() principal: Principal, @Param('name', NamePipe) name: string): Promise<void> {
    await this.switches.disable(principal, name);
    this.access.record(principal, 'disable', 'tool', name);
  }

  private async facts(tenant: string): Promise<ToolFacts> {
    return { disabled: await this.switches.disabled(tenant), omitted: this.models.omittedTools() };
  }
}
