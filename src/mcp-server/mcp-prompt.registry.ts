import { Injectable } from '@nestjs/common';
import type { Prompt } from '@modelcontextprotocol/server';
import { AppError } from '../errors/index.js';
import { ChangeListeners, type Principal } from '../kernel/index.js';
import type { McpPromptMessage, McpRequests } from './mcp-protocol.types.js';

/** The context of a prompt request. */
export interface McpPromptCall {
  readonly principal: Principal;
  /** The client's answers to the prompt's earlier requests, by their keys; not validated. */
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** A prompt: a text template that a client's user selects and fills in. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
  /** Returns its messages, or requests that the client must answer first. */
  get(args: Readonly<Record<string, string>>, call: McpPromptCall): McpPromptText | Promise<McpPromptText>;
  /** Possible values of the argument that start with `typed`. */
  complete?(argument: string, typed: string, principal: Principal): readonly string[] | Promise<readonly string[]>;
}

export type McpPromptText = readonly McpPromptMessage[] | { readonly ask: McpRequests };

/** The application's own prompts, in addition to one prompt for each agent. */
@Injectable()
export class McpPrompts {
  private readonly prompts = new Map<string, McpPrompt>();
  /** Listeners for added and removed prompts. */
  readonly changes = new ChangeListeners();

  /** @throws AppError `EXTENSION_INVALID` if the name is taken */
  register(prompt: McpPrompt): void {
    if (this.prompts.has(prompt.name)) {
      throw new AppError('EXTENSION_INVALID', `There are two MCP prompts named "${prompt.name}"; rename one.`);
    }
    this.prompts.set(prompt.name, prompt);
    this.changes.notify();
  }

  /** @returns whether the prompt existed */
  unregister(name: string): boolean {
    const wasThere = this.prompts.delete(name);
    if (wasThere) this.changes.notify();
    return wasThere;
  }

  get(name: string): McpPrompt | undefined {
    return this.prompts.get(name);
  }

  list(): readonly McpPrompt[] {
    return [...this.prompts.values()];
  }
}

/** A prompt in the format of the protocol. */
export function toMcpPrompt({ name, title, description, arguments: args = [] }: McpPrompt): Prompt {
  return { name, ...(title !== undefined && { title }), description, arguments: args.map((one) => ({ ...one })) };
}
