import { ChatModel } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, ModelCapabilities } from '../chat.types.js';
import type { ParameterLimits } from '../parameter.policy.js';

/** A model of which somebody knows better what it can do. */
export class CapabilityWrapper extends ChatModel {
  readonly provider: string;
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  override readonly parameterLimits: ParameterLimits;

  constructor(
    private readonly model: ChatModel,
    known: Partial<ModelCapabilities>,
  ) {
    super();
    this.provider = model.provider;
    this.name = model.name;
    this.capabilities = { ...model.capabilities, ...known };
    this.parameterLimits = model.parameterLimits;
  }

  generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    return this.model.generate(request, options);
  }

  stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    return this.model.stream(request, options);
  }
}
