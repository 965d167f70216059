import type { Client } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import {
  getPrompt,
  listPrompts,
  listResources,
  listTemplates,
  type McpPage,
  readResource,
  type RequestLimits,
} from './call/server-content.client.js';
import { NotProcessedError } from './connection/not-processed.error.js';
import { McpRegistry } from './mcp-server.registry.js';

/** Resources and prompts of servers, for the REST API. */
@Injectable()
export class McpContent {
  constructor(private readonly registry: McpRegistry) {}

  /** @throws AppError `MCP_SERVER_NOT_FOUND`, `MCP_SERVER_DISABLED`, `VALIDATION_FAILED` (cursor); McpError */
  async resources(server: string, cursor: string | undefined, signal: AbortSignal): Promise<McpPage> {
    return this.read(server, signal, (client, limits) => listResources(client, cursor, limits));
  }

  /** @throws as `resources` */
  async templates(server: string, cursor: string | undefined, signal: AbortSignal): Promise<McpPage> {
    return this.read(server, signal, (client, limits) => listTemplates(client, cursor, limits));
  }

  /**
   * The contents of a resource, in the format of the protocol. @throws as `resources`; McpError `RESOURCE_NOT_FOUND`
   */
  async resource(server: string, uri: string, signal: AbortSignal): Promise<readonly object[]> {
    return this.read(server, signal, (client, limits) => readResource(client, uri, limits));
  }

  /** @throws as `resources` */
  async prompts(server: string, cursor: string | undefined, signal: AbortSignal): Promise<McpPage> {
    return this.read(server, signal, (client, limits) => listPrompts(client, cursor, limits));
  }

  /**
   * The messages of a prompt, in the format of the protocol. @throws as `resources`; AppError `VALIDATION_FAILED` for its
   * arguments; McpError `PROMPT_NOT_FOUND`
   */
  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly object[]> {
    return this.read(server, signal, (client, limits) => getPrompt(client, name, args, limits));
  }

  /** Repeats a request in a new session if the server has forgotten the session. */
  private async read<T>(
    name: string,
    signal: AbortSignal,
    work: (client: Client, limits: RequestLimits) => Promise<T>,
  ): Promise<T> {
    const connected = this.registry.get(name);
    connected.assertEnabled();
    const { connection, server } = connected;
    const { timeoutMs: timeout } = server;
    const request = () =>
      connection.use((client) => work(client, { signal, timeout, maxTotalTimeout: timeout }), signal);
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof NotProcessedError)) throw error;
      await connection.renewed(signal);
      return request();
    }
  }
}
