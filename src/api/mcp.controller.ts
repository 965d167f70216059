import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { McpContent, McpServerService } from '../mcp/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import {
  McpAcceptAllDto,
  McpAcceptDto,
  McpAcceptedDto,
  McpListQueryDto,
  McpNewServerDto,
  McpPageDto,
  McpPromptDto,
  McpResourceQueryDto,
  McpServerDetailDto,
  McpServerDto,
  McpServerListDto,
} from './mcp.dto.js';
import { toAccepted, toMcpPage, toServerDetail, toServerView } from './mcp.mapper.js';
import { NamePipe } from './name.pipe.js';

@Requires('operate')
@Controller('mcp/servers')
export class McpController {
  constructor(
    private readonly servers: McpServerService,
    private readonly content: McpContent,
    private readonly access: AccessLogService,
  ) {}

  /** All MCP servers, with their status. */
  @Requires('tools:read', 'operate')
  @Get()
  list(): McpServerListDto {
    return { servers: this.servers.list().map(toServerView) };
  }

  /** One server, with the tools whose definitions wait for a person. */
  @Get(':name')
  async get(@Param('name', NamePipe) name: string): Promise<McpServerDetailDto> {
    return toServerDetail(this.servers.get(name), (await this.servers.waitingOf(name)).pins);
  }

  /** Adds an HTTP server. An operator must allow such servers. */
  @Post()
  async add(@CurrentPrincipal() principal: Principal, @Body() body: McpNewServerDto): Promise<McpServerDto> {
    const { name, ...declaration } = body;
    const added = await this.servers.add(principal, name, declaration);
    this.access.record(principal, 'enable', 'mcp-server', name);
    return toServerView(added);
  }

  /** Removes a server that was added over REST. */
  @Delete(':name')
  @HttpCode(204)
  async remove(@CurrentPrincipal() principal: Principal, @Param('name', NamePipe) name: string): Promise<void> {
    await this.servers.remove(name);
    this.access.record(principal, 'disable', 'mcp-server', name);
  }

  /** Reconnects at once to a server that is not connected. */
  @Post(':name/reconnect')
  @HttpCode(202)
  reconnect(@Param('name', NamePipe) name: string): void {
    this.servers.reconnect(name);
  }

  /** Accepts a quarantined tool with its present definition. The digest identifies the definition that was reviewed. */
  @Post(':name/tools/accept')
  @HttpCode(204)
  async accept(
    @CurrentPrincipal() principal: Principal,
    @Param('name', NamePipe) name: string,
    @Body() { tool, digest }: McpAcceptDto,
  ): Promise<void> {
    await this.servers.accept(principal, name, tool, digest);
    this.access.record(principal, 'enable', 'mcp-server', name);
  }

  /**
   * Accepts all definitions and annotations of a server that wait for a person. With `dryRun` it only shows them, with
   * their differences and findings.
   */
  @Requires('tools:write', 'operate')
  @Post(':name/accept')
  @HttpCode(200)
  async acceptAll(
    @CurrentPrincipal() principal: Principal,
    @Param('name', NamePipe) name: string,
    @Body() { dryRun = false, digest }: McpAcceptAllDto,
  ): Promise<McpAcceptedDto> {
    const server = this.servers.get(name);
    if (dryRun) return toAccepted(server, await this.servers.waitingOf(name), false);
    const accepted = await this.servers.acceptAll(principal, name, digest);
    this.access.record(principal, 'enable', 'mcp-server', name);
    return toAccepted(server, accepted, true);
  }

  /** A server's resources. */
  @Requires('tools:read')
  @Get(':name/resources')
  async resources(@Param('name', NamePipe) name: string, @Query() { cursor }: McpListQueryDto): Promise<McpPageDto> {
    return toMcpPage(await this.content.resources(name, cursor, NEVER));
  }

  /** A server's resource templates. */
  @Requires('tools:read')
  @Get(':name/resource-templates')
  async templates(@Param('name', NamePipe) name: string, @Query() { cursor }: McpListQueryDto): Promise<McpPageDto> {
    return toMcpPage(await this.content.templates(name, cursor, NEVER));
  }

  /** The contents of a resource. */
  @Requires('tools:read')
  @Get(':name/resource')
  async resource(@Param('name', NamePipe) name: string, @Query() { uri }: McpResourceQueryDto): Promise<McpPageDto> {
    return toMcpPage({ items: await this.content.resource(name, uri, NEVER), next: null });
  }

  /** A server's prompts. */
  @Requires('tools:read')
  @Get(':name/prompts')
  async prompts(@Param('name', NamePipe) name: string, @Query() { cursor }: McpListQueryDto): Promise<McpPageDto> {
    return toMcpPage(await this.content.prompts(name, cursor, NEVER));
  }

  /** The messages of a prompt. */
  @Requires('tools:call')
  @Post(':name/prompt')
  @HttpCode(200)
  async prompt(@Param('name', NamePipe) server: string, @Body() body: McpPromptDto): Promise<McpPageDto> {
    const { name, arguments: args = {} } = body;
    return toMcpPage({ items: await this.content.prompt(server, name, args, NEVER), next: null });
  }
}

/** Requests over REST have no abort signal of their own; the server's time-out applies. */
const NEVER = new AbortController().signal;
