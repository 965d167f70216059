import { ChatModel, type ChatResult, type ChatStreamPart, type ModelCapabilities } from '../llm/chat/index.js';
import type { AgentDefinition } from './definition/agent-definition.schema.js';

/**
 * Replaces a model that can no longer be created (missing key or provider). Recorded steps of a run replay; only the
 * next model call fails, so that the run ends with its complete turn.
 */
export class UnavailableModel extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities = { vision: false, functionCalling: true, jsonMode: false };

  constructor(
    { provider, name = provider }: AgentDefinition['model'],
    private readonly reason: Error,
  ) {
    super();
    this.provider = provider;
    this.name = name;
  }

  async generate(): Promise<ChatResult> {
    throw this.reason;
  }

  stream(): AsyncIterable<ChatStreamPart> {
    return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(this.reason) }) };
  }
}
