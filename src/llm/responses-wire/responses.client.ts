import type { CallOptions } from '../chat/chat.types.js';
import type { ModelClient, WireRequest, WireResponse } from '../wire/wire.client.js';
import { MissingApiError, StatusError } from '../wire/wire-failure.error.js';

/** Statuses of a path that a server does not have. */
const UNKNOWN_PATH = [404, 405];
/** Of an item: "Items are not persisted when `store` is set to false" (github.com/can1357/oh-my-pi/issues/41). */
const MISSING_ITEM = /^Item with id/;
/** Audio and search models of OpenAI (github.com/Laisky/one-api/issues/88). */
const CHAT_MODEL = /(?:not supported with|cannot be used with|not support) the Responses API/i;

/** The endpoint `/responses`, which an address may lack, or have for some models only. */
export class ResponsesClient implements ModelClient {
  constructor(private readonly inner: ModelClient) {}

  /** @throws MissingApiError if Chat Completions may serve the request */
  async send(request: WireRequest, options: CallOptions, spentMs?: number): Promise<WireResponse> {
    try {
      return await this.inner.send(request, options, spentMs);
    } catch (failure) {
      throw failure instanceof StatusError ? withMeaning(failure) : failure;
    }
  }
}

function withMeaning(failure: StatusError): StatusError | MissingApiError {
  const { status, said, kind } = failure;
  if (CHAT_MODEL.test(said)) return new MissingApiError(failure, true);
  if (!UNKNOWN_PATH.includes(status) || MISSING_ITEM.test(said) || kind === 'model_not_found') return failure;
  return new MissingApiError(failure);
}
