import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { Logger } from '@nestjs/common';
import { canonicalJson, messageOf } from '../../common/index.js';
import { anyPattern, type ToolContext, type ToolRegistry } from '../../tool/index.js';
import type { McpServer } from '../mcp-server.types.js';
import { type ContentTool, createContentTool } from './content-tool.factory.js';
import { mcpToolName, NAME_SEPARATOR } from './mcp-tool-name.policy.js';
import type { CallChannel } from '../call/mcp-call.executor.js';
import { createMcpTool } from './mcp-tool.factory.js';

/** A tool of the server, or a tool of Jackdaw for its resources or prompts. */
type Listed = McpTool | ContentTool;

/** The tools of one server in the registry of all tools. */
export class ServerTools {
  private readonly logger = new Logger('McpTools');
  /** Registered tools: name in Jackdaw, and definition as JSON. */
  private readonly registered = new Map<string, string>();
  private readonly refusals = new Map<string, string>();
  private retract: (() => void) | undefined;

  constructor(
    private readonly server: McpServer,
    private readonly registry: ToolRegistry,
    private readonly channelOf: (name: string, context: ToolContext) => CallChannel,
  ) {}

  /** @param name the tool's name in Jackdaw */
  has(name: string): boolean {
    return this.registered.has(name);
  }

  /** The tools' names in Jackdaw. */
  get names(): readonly string[] {
    return [...this.registered.keys()];
  }

  /** Why tools were rejected, by their names on the server. */
  get refused(): ReadonlyMap<string, string> {
    return this.refusals;
  }

  /**
   * Announces future tools, so that an agent can name them before they are registered. @param first as in
   * `ToolRegistry`
   */
  announce(first: Promise<void>): void {
    this.retract = this.registry.announce(`${this.server.name}${NAME_SEPARATOR}`, first);
  }

  /** Removes all tools and the announcement. */
  close(): void {
    this.replace([]);
    this.retract?.();
  }

  /**
   * Replaces the server's tools.
   * @param content tools for its resources and prompts; a tool of the server with the same name takes precedence
   */
  replace(tools: readonly McpTool[], content: readonly ContentTool[] = []): void {
    this.refusals.clear();
    const listed = [...tools, ...content.filter(({ name }) => !tools.some((tool) => tool.name === name))];
    const coming = new Map(this.named(listed));
    for (const [name, known] of this.registered) {
      const tool = coming.get(name);
      if (tool && textOf(tool) === known) coming.delete(name);
      else this.drop(name);
    }
    for (const [name, tool] of coming) this.add(name, tool);
  }

  private drop(name: string): void {
    this.registered.delete(name);
    this.registry.unregister(name);
  }

  private add(name: string, tool: Listed): void {
    const channelOf = (context: ToolContext) => this.channelOf(name, context);
    try {
      this.registry.register(
        'read' in tool
          ? createContentTool(name, tool, this.server, channelOf)
          : createMcpTool(name, tool, this.server, channelOf),
      );
      this.registered.set(name, textOf(tool));
    } catch (error) {
      this.refuse(tool, messageOf(error));
    }
  }

  private named(tools: readonly Listed[]): [string, Listed][] {
    const usedNames = new Set<string>();
    return tools.flatMap((tool): [string, Listed][] => {
      if (!isSelected(tool, this.server)) return [];
      const name = mcpToolName(this.server.name, tool.name);
      if (name === undefined)
        this.refuse(
          tool,
          'its name is longer than 128 characters, or has characters other than letters, digits and _ - . /',
        );
      else if (usedNames.has(name)) this.refuse(tool, `its name ${name} is taken by another tool`);
      else {
        usedNames.add(name);
        return [[name, tool]];
      }
      return [];
    });
  }

  private refuse({ name }: Listed, why: string): void {
    const shortName = name.slice(0, 128);
    this.refusals.set(shortName, why);
    this.logger.warn(`Rejected tool ${JSON.stringify(shortName)} of MCP server "${this.server.name}": ${why}`);
  }
}

function isSelected({ name }: Listed, { tools }: McpServer): boolean {
  return tools === undefined || anyPattern(tools)(name);
}

function textOf(tool: Listed): string {
  return canonicalJson(tool);
}
