import type { CallAccount, CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';
import { ModelWrapper } from '../chat/chat-model.js';

/** A model whose requests use Chat Completions, also where it has the Responses API. */
export class ChatApiModel extends ModelWrapper {
  generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    return this.inner.generate({ ...request, api: 'chat' }, options);
  }

  stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    return this.inner.stream({ ...request, api: 'chat' }, options);
  }

  override bodyOf(request: ChatRequest, isStreaming: boolean, account?: CallAccount): object | null {
    return this.inner.bodyOf({ ...request, api: 'chat' }, isStreaming, account);
  }
}
