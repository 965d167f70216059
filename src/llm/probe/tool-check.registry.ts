import { isJsonObject, parseJson } from '../../kernel/json/index.js';
import type { ChatResult, ModelCapabilities, ToolChoice, ToolSpec } from '../chat/chat.types.js';
import type { ToolCall } from '../chat/message.types.js';
import { AppError } from '../../errors/index.js';
import { READY } from './chat-check.registry.js';
import { type ProbeTalk, user } from './probe-talk.js';
import {
  adapted,
  failed,
  notSupported,
  ok,
  type ProbeCheck,
  type ProbeFinding,
  type ProbeLesson,
} from './probe-check.js';

/** The length that all providers accept. */
const NAME_LENGTH = 64;

export const WEATHER: ToolSpec = {
  name: 'get_weather',
  description: 'Returns the weather in a city.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const TIME: ToolSpec = {
  name: 'get_time',
  description: 'Returns the current time.',
  inputSchema: { type: 'object', properties: {} },
};
const LONG: ToolSpec = { ...TIME, name: 'get_time_'.padEnd(NAME_LENGTH, 'in_the_time_zone_of_the_server_') };
const ITEM: ToolSpec = {
  name: 'find_item',
  description: 'Finds an item by its id or by its name.',
  inputSchema: {
    type: 'object',
    anyOf: [
      { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    ],
  },
};
/** Valid JSON Schemas that some providers reject. */
const ODD: readonly ToolSpec[] = [
  {
    name: 'set_tags',
    description: 'Sets tags.',
    inputSchema: { type: 'object', properties: { tags: { type: 'array' } } },
  },
  {
    name: 'set_level',
    description: 'Sets a level.',
    inputSchema: { type: 'object', properties: { level: { enum: [1, 2, null] }, note: { type: ['string', 'null'] } } },
  },
  {
    name: 'set_place',
    description: 'Sets a place.',
    inputSchema: {
      type: 'object',
      properties: { place: { $ref: '#/$defs/place' } },
      $defs: { place: { type: 'object', properties: { zip: { type: 'string', pattern: '^\\d{5}$', format: 'zip' } } } },
    },
  },
];
const OSLO = 'Call the tool get_weather with the city Oslo.';

/** Checks of the calls that the loop needs: whole, streamed, and continued with their results. */
export function mainToolChecks(): readonly ProbeCheck[] {
  return [
    { name: 'tools', calls: 1, isMain: true, run: (talk) => checkCall(talk, false) },
    { name: 'streamed tools', calls: 1, isMain: true, run: (talk) => checkCall(talk, true) },
    { name: 'tool results', calls: 1, isMain: true, needsCalls: true, run: checkResults },
    { name: 'second turn', calls: 1, isMain: true, needsCalls: true, run: checkSecondTurn },
  ];
}

async function checkCall(talk: ProbeTalk, isStreamed: boolean): Promise<ProbeFinding> {
  const messages = [user(OSLO)];
  const result = await orRefusal(() => talk.ask({ messages, tools: [WEATHER] }, { isStreamed }));
  const isOther = talk.calling !== undefined;
  const lesson = isOther ? undefined : asText(talk);
  if (result instanceof AppError) return failed(result.message, lesson);
  const [call] = callsOf(result);
  if (call === undefined) return failed('the model answers without a call', lesson);
  if (call.name !== WEATHER.name || argumentsOf(call) === undefined) {
    return failed(`the model calls ${call.name} with ${call.arguments}`, lesson);
  }
  talk.calling = { messages, reply: result.message };
  return ok(`${call.name} ${call.arguments}`);
}

/** Tools and calls as text, for a model without function calling. */
function asText({ llm }: ProbeTalk): ProbeLesson {
  const assignments = llm.protocol === 'native' ? ['LLM_PROTOCOL=auto'] : [];
  return { capabilities: { functionCalling: false }, assignments };
}

async function checkResults(talk: ProbeTalk): Promise<ProbeFinding> {
  const calling = talk.calling!;
  const results = (calling.reply.toolCalls ?? []).map(({ id, name }) => ({
    role: 'tool' as const,
    toolCallId: id,
    name,
    content: '{"celsius":17,"sky":"clear"}',
  }));
  const messages = [...calling.messages, calling.reply, ...results];
  const { message } = await talk.ask({ messages, tools: [WEATHER] });
  if (message.toolCalls !== undefined) return failed('the model calls the tool again');
  talk.answered = [...messages, { ...message, content: message.content || 'It is 17 °C.' }];
  return ok(message.content === '' ? 'no text after the result' : '');
}

async function checkSecondTurn(talk: ProbeTalk): Promise<ProbeFinding> {
  if (!talk.answered) return failed('not tried: the first turn has no end');
  const { message } = await talk.ask({ messages: [...talk.answered, user(READY)], tools: [WEATHER] });
  const isEmpty = message.content === '' && message.toolCalls === undefined;
  return isEmpty ? failed('the reply is empty') : ok();
}

/** Checks of the other forms of tools. */
export function toolChecks(capabilities: ModelCapabilities): readonly ProbeCheck[] {
  return [
    {
      name: 'parallel tools',
      calls: 1,
      needsCalls: true,
      run: async (talk) => {
        const text = 'Call the tool get_weather twice at once: with the city Oslo, and with the city Rome.';
        const calls = callsOf(await talk.ask({ messages: [user(text)], tools: [WEATHER] }));
        if (calls.length === 0) return failed('the model answers without a call');
        return calls.length > 1 ? ok(`${calls.length} calls`) : notSupported('one call per reply: runs take longer');
      },
    },
    choiceCheck('tool choice required', 'required', capabilities),
    choiceCheck('tool choice named', { name: WEATHER.name }, capabilities),
    {
      name: 'tool choice none',
      calls: 1,
      needsCalls: true,
      run: async (talk) => {
        const reply = await talk.ask({ messages: [user(OSLO)], tools: [WEATHER], toolChoice: 'none' });
        return callsOf(reply).length > 0 ? failed('the model calls a tool') : ok();
      },
    },
    callCheck('no arguments', [TIME], 'Call the tool get_time.'),
    callCheck('long tool names', [LONG], `Call the tool ${LONG.name}.`),
    callCheck('unions', [ITEM], 'Call the tool find_item with the id 7.'),
    callCheck('odd schemas', [...ODD, TIME], 'Call the tool get_time.'),
  ];
}

/** The call of the last tool. */
function callCheck(name: string, tools: readonly ToolSpec[], text: string): ProbeCheck {
  return {
    name,
    calls: 1,
    needsCalls: true,
    run: async (talk) => {
      const [call] = callsOf(await talk.ask({ messages: [user(text)], tools }));
      if (!call) return failed('the model answers without a call');
      if (call.name !== tools.at(-1)!.name) return failed(`the model calls ${call.name}`);
      return argumentsOf(call) ? ok() : failed(`the arguments are not a JSON object: ${call.arguments}`);
    },
  };
}

function choiceCheck(name: string, toolChoice: ToolChoice, { forcedToolChoice = true }: ModelCapabilities): ProbeCheck {
  const replacement = 'an instruction replaces it';
  if (!forcedToolChoice) return { name, calls: 0, run: () => notSupported(replacement) };
  const lesson = { capabilities: { forcedToolChoice: false } };
  return {
    name,
    calls: 1,
    needsCalls: true,
    run: async (talk) => {
      const reply = await orRefusal(() => talk.ask({ messages: [user(READY)], tools: [WEATHER], toolChoice }));
      if (reply instanceof AppError) return adapted(`${replacement}: ${reply.message}`, lesson);
      return callsOf(reply).length > 0 ? ok() : adapted(`the provider ignores it: ${replacement}`, lesson);
    },
  };
}

/** The error if the provider refused the request. @throws any other error */
export async function orRefusal<T>(call: () => Promise<T>): Promise<T | AppError> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AppError && error.code === 'MODEL_REFUSED') return error;
    throw error;
  }
}

function callsOf({ message }: ChatResult): readonly ToolCall[] {
  return message.toolCalls ?? [];
}

function argumentsOf(call: ToolCall): object | undefined {
  const parsed = parseJson(call.arguments);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}
