import { steadyNow } from '../../kernel/index.js';
import type { LlmConfig } from '../../config/namespaces/index.js';
import { AppError } from '../../errors/index.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ModelCapabilities } from '../chat/chat.types.js';
import type { AssistantMessage, Message, UserMessage } from '../chat/message.types.js';
import type { FieldChanges } from '../wire/adapted-request.builder.js';

/** Access of a probe to the model. */
export interface ProbedModel {
  /** The configured model, with other capabilities if given. */
  create(capabilities?: Partial<ModelCapabilities>): ChatModel;
  /** Changes of requests that the provider has required so far. */
  changes(): FieldChanges;
}

/** Deadline of a model call without `LLM_TOTAL_TIMEOUT_MS`, in ms: a slow local model answers in minutes. */
const CALL_MS = 5 * 60_000;

interface Asking {
  readonly isStreamed?: boolean;
  /** Capabilities that differ from the configured ones. */
  readonly as?: Partial<ModelCapabilities>;
}

/** The model calls of one probe, each with a deadline, and the facts that several checks use. */
export class ProbeTalk {
  readonly capabilities: ModelCapabilities;
  readonly replies: { readonly isStreamed: boolean; readonly result: ChatResult }[] = [];
  /** The conversation with the first tool call; absent until a model has made it. */
  calling?: { readonly messages: readonly Message[]; readonly reply: AssistantMessage };
  /** The conversation with the first tool result. */
  answered?: readonly Message[];
  /** Whether the model has described an image. */
  hasSeen = false;
  /** Number of text parts of the last streamed reply. */
  parts = 0;

  constructor(
    private readonly model: ProbedModel,
    readonly llm: LlmConfig,
    private readonly signal: AbortSignal,
  ) {
    this.capabilities = model.create().capabilities;
  }

  changes(): FieldChanges {
    return this.model.changes();
  }

  /** Sends a request with the configured parameters, unless it has its own. @throws as `ChatModel` */
  async ask(given: ChatRequest, { isStreamed = false, as }: Asking = {}): Promise<ChatResult> {
    const model = this.model.create(as);
    const request = { parameters: this.llm.parameters, ...given };
    // The model stack limits silence.
    const timeoutMs = this.llm.resilience.totalTimeoutMs || CALL_MS;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(tooLate(timeoutMs)), timeoutMs);
    const options: CallOptions = {
      signal: AbortSignal.any([this.signal, deadline.signal]),
      deadlineAt: steadyNow() + timeoutMs,
    };
    try {
      const result = isStreamed ? await this.read(model, request, options) : await model.generate(request, options);
      this.replies.push({ isStreamed, result });
      return result;
    } finally {
      clearTimeout(timer);
    }
  }

  private async read(model: ChatModel, request: ChatRequest, options: CallOptions): Promise<ChatResult> {
    this.parts = 0;
    for await (const part of model.stream(request, options)) {
      if (part.type === 'text') this.parts++;
      if (part.type === 'restart') this.parts = 0;
      if (part.type === 'finish') return part.result;
    }
    throw new Error('A stream of a model ended without its result.');
  }
}

function tooLate(ms: number): AppError {
  return new AppError('MODEL_TIMEOUT', `No complete reply arrived within ${ms} ms; raise LLM_TOTAL_TIMEOUT_MS.`);
}

export function user(content: UserMessage['content']): UserMessage {
  return { role: 'user', content };
}
