import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { ModelStackFactory } from '../llm/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { ToolSwitchService } from '../tool-policy/index.js';
import { type ToolApproval, type ToolMetadata, ToolRegistry } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import { NamePipe } from './name.pipe.js';
import { ToolDto, ToolListDto, type ToolMetadataDto } from './tool.dto.js';

/** Facts about tools besides their definitions. */
interface ToolFacts {
  /** Names of the tools that the tenant has disabled. */
  readonly disabled: ReadonlySet<string>;
  readonly omitted: readonly { readonly tool: string; readonly model: string; readonly reason: string }[];
}

/** Converts a tool to its public form. */
function toToolView({ definition, metadata }: Tool, { disabled, omitted }: ToolFacts): ToolDto {
  const { name, description, inputSchema, outputSchema } = definition;
  const { warnings = [] } = metadata;
  const omissions = omitted.filter(({ tool }) => tool === name).map(({ model, reason }) => ({ model, reason }));
  return {
    name,
    description,
    effect: metadata.effect,
    source: metadata.source,
    enabled: !disabled.has(name),
    ...(omissions.length > 0 && { omitted: omissions }),
    ...(warnings.length > 0 && { warnings: warnings.map(({ at, what }) => ({ at, what })) }),
    input_schema: inputSchema,
    ...(outputSchema && { output_schema: outputSchema }),
    metadata: toMetadataView(metadata),
  };
}

function toApproval(approval: ToolApproval): ToolMetadataDto['approval'] {
  const when = typeof approval === 'object' ? (approval.when ?? 'always') : approval;
  return typeof when === 'function' ? 'sometimes' : when;
}

function toMetadataView(metadata: ToolMetadata): ToolMetadataDto {
  const {
    approval = 'never',
    egress,
    untrusted,
    private: isPrivate = true,
    retries = 0,
    timeoutMs,
    cacheTtlMs,
    concurrency,
    queueTimeoutMs,
  } = metadata;
  return {
    approval: toApproval(approval),
    egress,
    untrusted,
    private: isPrivate,
    retries,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(cacheTtlMs !== undefined && { cache_ttl_ms: cacheTtlMs }),
    ...(concurrency !== undefined && { concurrency }),
    ...(queueTimeoutMs !== undefined && { queue_timeout_ms: queueTimeoutMs }),
  };
}

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
