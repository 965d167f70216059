import { ChatModel, type ChatResult, type ChatStreamPart, type ModelCapabilities } from '../llm/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';

/**
 * Stands in for a model that cannot be made any more (its key is gone, its provider too): what a run has recorded
 * replays, and only the next question fails, so that the run ends with its whole turn.
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
