import type { ChatCodec } from '../wire/chat-codec.types.js';
import { toChatResult } from './reply.mapper.js';
import { toWireBody, type WireTarget } from './request.mapper.js';
import { StreamReplyBuilder } from './stream-reply.builder.js';

/** Creates the codec of OpenAI's chat completions for one model. */
export function createCodec(target: WireTarget): ChatCodec {
  return {
    write: (request, stream) => toWireBody(request, target, stream),
    read: (body) => toChatResult(body, target.model),
    openStream: () => new StreamReplyBuilder(target.model),
  };
}
