import type { Client } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { McpRegistry } from './mcp-server.registry.js';

/** A page of a list, as the server gave it. */
export interface McpPage {
  readonly items: readonly object[];
  readonly next: string | null;
}

const MAX_ITEMS = 1000;

/** Resources and prompts of servers, for people and as tools. */
@Injectable()
export class McpContent {
  constructor(private readonly registry: McpRegistry) {}

  /** @throws AppError `MCP_SERVER_NOT_FOUND`, `MCP_SERVER_DISABLED`; McpError */
  async resources(server: string, cursor: string | undefined, signal: AbortSignal): Promise<McpPage> {
    return this.read(server, signal, async (client, options) => {
      const { resources, nextCursor } = await client.listResources(pageOf(cursor), options);
      return { items: resources.slice(0, MAX_ITEMS), next: nextCursor ?? null };
    });
  }

  /** @throws as `resources` */
  async templates(server: string, cursor: string | undefined, signal: AbortSignal): Promise<McpPage> {
    return this.read(server, signal, async (client, options) => {
      const { resourceTemplates, nextCursor } = await client.listResourceTemplates(pageOf(cursor), options);
      return { items: resourceTemplates.slice(0, MAX_ITEMS), next: nextCursor ?? null };
    });
  }

  /** What a resource holds, in the protocol's form. @throws as `resources`; McpError `RESOURCE_NOT_FOUND` */
  async resource(server: string, uri: string, signal: AbortSignal): Promise<readonly object[]> {
    return this.read(server, signal, async (client, options) => {
      const { contents } = await client.readResource({ uri }, { ...options, cacheMode: 'bypass' });
      return contents;
    });
  }

  /** @throws as `resources` */
  async prompts(server: string, cursor: string | undefined, signal: AbortSignal): Promise<McpPage> {
    return this.read(server, signal, async (client, options) => {
      const { prompts, nextCursor } = await client.listPrompts(pageOf(cursor), options);
      return { items: prompts.slice(0, MAX_ITEMS), next: nextCursor ?? null };
    });
  }

  /** The messages of a prompt, in the protocol's form. @throws as `resources`; McpError `PROMPT_NOT_FOUND` */
  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly object[]> {
    return this.read(server, signal, async (client, options) => {
      const { messages } = await client.getPrompt({ name, arguments: { ...args } }, options);
      return messages;
    });
  }

  private async read<T>(
    name: string,
    signal: AbortSignal,
    work: (client: Client, options: { signal: AbortSignal; timeout: number; maxTotalTimeout: number }) => Promise<T>,
  ): Promise<T> {
    const { connection, server } = this.registry.getEnabled(name);
    const { timeoutMs: timeout } = server;
    return connection.use((client) => work(client, { signal, timeout, maxTotalTimeout: timeout }), signal);
  }
}

function pageOf(cursor: string | undefined): { cursor: string } | undefined {
  return cursor === undefined ? undefined : { cursor };
}
