import type { ToolRules } from '../tool-schema.mapper.js';
import type { ChatCodec } from '../wire/chat-codec.types.js';
import type { StateOwner } from './opaque-field.mapper.js';
import { toChatResult } from './reply.mapper.js';
import { toWireBody, type WireTarget } from './request.mapper.js';
import { StreamReplyBuilder } from './stream-reply.builder.js';

/** One object, as fitted tools are cached by it. */
const NO_RULES: ToolRules = {};

/** Creates the codec of OpenAI's chat completions for one model. */
export function createCodec(target: WireTarget): ChatCodec {
  return {
    toolRules: target.dialect.toolRules ?? NO_RULES,
    isStreamOnly: target.dialect.isStreamOnly ?? false,
    write: (request, stream) => toWireBody(request, target, stream),
    read: (body) => toChatResult(body, ownerOf(target)),
    openStream: () => new StreamReplyBuilder(ownerOf(target)),
  };
}

function ownerOf({ provider, model }: WireTarget): StateOwner {
  return { provider, model };
}
