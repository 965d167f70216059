import { openAiBody } from './openai.js';
import { rulesOf, type ProviderRule } from './provider-rule.js';
import { callsIn, imagesIn, isNode, parsedArguments, textOf } from './request-parts.js';

const SOURCE = 'https://github.com/ollama/ollama/blob/fb30760996871fa9460115c753afd2c60d4ab0f7/openai/openai.go';
const LEVELS: readonly unknown[] = ['high', 'medium', 'low', 'max', 'none'];
const rule = rulesOf(['ollama'], openAiBody);

export const OLLAMA_RULES: readonly ProviderRule[] = [
  rule('content-null', 'A message without calls has a content.', SOURCE, ({ messages }) =>
    messages.some(({ content, tool_calls }) => (content ?? null) === null && !tool_calls?.length)
      ? { message: 'invalid message content type: <nil>' }
      : undefined,
  ),
  rule('arguments', 'The arguments of a call are a JSON object.', SOURCE, (request) =>
    callsIn(request).every(({ call }) => isNode(parsedArguments(call)))
      ? undefined
      : { message: 'invalid tool call arguments' },
  ),
  rule('image-url', 'Images are inline data.', SOURCE, (request) =>
    imagesIn(request).some(({ url }) => /^https?:/.test(url))
      ? { message: 'image URLs are not currently supported, please use base64 encoded data instead' }
      : undefined,
  ),
  rule(
    'effort-level',
    'The effort is high, medium, low, max or none.',
    'https://github.com/DevEmperor/DictateKeyboard/issues/186',
    ({ reasoning_effort: effort }) =>
      effort === undefined || LEVELS.includes(effort)
        ? undefined
        : {
            message: `invalid reasoning value: '${textOf(effort)}' (must be "high", "medium", "low", "max", or "none")`,
          },
  ),
  rule('image-type', 'An image is JPEG, PNG or WebP.', SOURCE, (request) =>
    imagesIn(request).some(
      ({ mediaType }) => mediaType !== undefined && !/^(?:image\/(?:jpe?g|png|webp))?$/.test(mediaType),
    )
      ? { message: 'invalid image input' }
      : undefined,
  ),
];
