import { AppError } from '../../errors/index.js';
import { isJsonObject, parseJson } from '../../kernel/json/index.js';
import type { ChatRequest, ModelCapabilities, ResponseFormat } from '../chat/chat.types.js';
import type { ImagePart, Message } from '../chat/message.types.js';
import { type ProbeTalk, user } from './probe-talk.js';
import { adapted, failed, notSupported, ok, type ProbeCheck, type ProbeFinding } from './probe-check.js';
import { orRefusal, WEATHER } from './tool-check.registry.js';

/** 64 x 64 pixels, all red. */
const RED: ImagePart = {
  type: 'image',
  url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC',
};
const COLOUR = 'Which colour has the image? Reply with one word.';
const SCHEMA: ResponseFormat = {
  schema: {
    type: 'object',
    properties: { city: { type: 'string' }, celsius: { type: 'integer' } },
    required: ['city', 'celsius'],
    additionalProperties: false,
  },
  name: 'weather',
};
const ANSWER = 'In Oslo it is 17 degrees. Answer with a JSON object that has the fields city and celsius.';

/** Checks of the answer's format, and of images. */
export function formatChecks(capabilities: ModelCapabilities, hasTools: boolean): readonly ProbeCheck[] {
  return [
    formatCheck('json mode', capabilities, { messages: [user(ANSWER)], responseFormat: 'json' }),
    formatCheck('schema', capabilities, { messages: [user(ANSWER)], responseFormat: SCHEMA }),
    ...(hasTools
      ? [
          formatCheck('schema with tools', capabilities, {
            messages: [user(`${ANSWER} Call no tool.`)],
            responseFormat: SCHEMA,
            tools: [WEATHER],
          }),
        ]
      : []),
    { name: 'images', calls: 1, run: checkImage },
    ...(hasTools ? [{ name: 'images of tools', calls: 1, needsCalls: true, run: checkToolImage }] : []),
  ];
}

function formatCheck(name: string, { jsonMode }: ModelCapabilities, request: ChatRequest): ProbeCheck {
  const lesson = { capabilities: { jsonMode: false } };
  return {
    name,
    calls: 1,
    needsCalls: request.tools !== undefined,
    run: async (talk) => {
      const reply = await orRefusal(() => talk.ask(request));
      if (reply instanceof AppError) return adapted(`an instruction replaces it: ${reply.message}`, lesson);
      const isOmitted = [...talk.changes().keys()].some((field) => /^(?:response_format|output_config)$/.test(field));
      if (!isAnswer(reply.message.content)) return failed('the answer is not the JSON object');
      if (jsonMode && isOmitted) return adapted('an instruction replaces it', lesson);
      return ok(jsonMode ? '' : 'by an instruction');
    },
  };
}

function isAnswer(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) && typeof parsed.value['city'] === 'string';
}

async function checkImage(talk: ProbeTalk): Promise<ProbeFinding> {
  const { vision } = talk.capabilities;
  const reply = await orRefusal(() => talk.ask(looking(talk), { as: { vision: true } }));
  const sees = !(reply instanceof AppError) && /red/i.test(reply.message.content);
  talk.hasSeen = sees;
  if (sees) return vision ? ok() : adapted('the model sees images', { capabilities: { vision: true } });
  const reason = reply instanceof AppError ? reply.message : 'the model does not see the image';
  return vision ? failed(reason, { capabilities: { vision: false } }) : notSupported(reason);
}

function looking({ llm }: ProbeTalk): ChatRequest {
  return { messages: [user([{ type: 'text', text: COLOUR }, RED])], parameters: llm.parameters };
}

async function checkToolImage(talk: ProbeTalk): Promise<ProbeFinding> {
  if (!talk.hasSeen) return notSupported('the model reads a note in place of the image');
  const call = { id: 'call_image_1', name: 'take_photo', arguments: '{}' };
  const messages: Message[] = [
    user(`Call the tool take_photo. ${COLOUR}`),
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', toolCallId: call.id, name: call.name, content: 'One photo.', images: [RED] },
  ];
  const tools = [{ ...WEATHER, name: call.name, description: 'Takes a photo.', inputSchema: { type: 'object' } }];
  const { message } = await talk.ask({ messages, tools }, { as: { vision: true } });
  return /red/i.test(message.content) ? ok() : failed('the model does not see the image of the result');
}
