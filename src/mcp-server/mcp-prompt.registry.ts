import { Injectable } from '@nestjs/common';
import type { Prompt } from '@modelcontextprotocol/server';
import { AppError, ChangeListeners, type Principal } from '../common/index.js';
import type { McpPromptMessage, McpRequests } from './mcp-protocol.types.js';

/** What a prompt is asked with. */
export interface McpPromptCall {
  readonly principal: Principal;
  /** What the client has answered, by the keys of what the prompt asked for; nobody has checked it. */
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** A prompt: texts that a client's user picks and fills in. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
  /** Its messages, or what the client must be asked for first. */
  get(args: Readonly<Record<string, string>>, call: McpPromptCall): McpPromptText | Promise<McpPromptText>;
  /** Values that the argument may have and that begin as `typed` does. */
  complete?(argument: string, typed: string, principal: Principal): readonly string[] | Promise<readonly string[]>;
}

export type McpPromptText = readonly McpPromptMessage[] | { readonly ask: McpRequests };

/** The prompts of an application's own; beside them every agent has one. */
@Injectable()
export class McpPrompts {
  private readonly prompts = new Map<string, McpPrompt>();
  /** Hear that a prompt came or went. */
  readonly changes = new ChangeListeners();

  /** @throws AppError `EXTENSION_INVALID` when the name is taken */
  register(prompt: McpPrompt): void {
    if (this.prompts.has(prompt.name)) {
      throw new AppError('EXTENSION_INVALID', `There are two MCP prompts named "${prompt.name}"; rename one.`);
    }
    this.prompts.set(prompt.name, prompt);
    this.changes.tell();
  }

  /** @returns whether there was one */
  unregister(name: string): boolean {
    const wasThere = this.prompts.delete(name);
    if (wasThere) this.changes.tell();
    return wasThere;
  }

  get(name: string): McpPrompt | undefined {
    return this.prompts.get(name);
  }

  list(): readonly McpPrompt[] {
    return [...this.prompts.values()];
  }
}

/** A prompt as clients are shown it. */
export function toMcpPrompt({ name, title, description, arguments: args = [] }: McpPrompt): Prompt {
  return { name, ...(title !== undefined && { title }), description, arguments: args.map((one) => ({ ...one })) };
}
