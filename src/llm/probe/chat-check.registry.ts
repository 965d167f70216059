import type { ModelCapabilities, ModelParameters, ParameterName } from '../chat/chat.types.js';
import { fitParameters } from '../request-fit.policy.js';
import { PARAMETERS, REASONING_OFF } from '../wire/adapted-request.builder.js';
import { type ProbeTalk, user } from './probe-talk.js';
import { adapted, failed, notSupported, ok, type ProbeCheck, type ProbeFinding } from './probe-check.js';

export const READY = 'Reply with the single word ready.';
const BIRD = '🐦';
const MAX_TOKENS = 64;

/** Checks of plain chats, which every agent needs. */
export function mainChatChecks(): readonly ProbeCheck[] {
  return [
    {
      name: 'chat',
      calls: 1,
      isMain: true,
      run: async (talk) => {
        const { message, model } = await talk.ask({ messages: [user(READY)] });
        return message.content.trim() === '' ? failed('the reply is empty') : ok(`${model} answers`);
      },
    },
    {
      name: 'stream',
      calls: 1,
      isMain: true,
      run: async (talk) => {
        const messages = [user('Write the numbers from 1 to 20 in words.')];
        const { message } = await talk.ask({ messages }, { isStreamed: true });
        if (message.content.trim() === '') return failed('the reply is empty');
        return ok(talk.parts === 1 ? 'one part: the reply arrives at its end' : `${talk.parts} parts`);
      },
    },
    { name: 'usage', calls: 0, run: checkUsage },
  ];
}

function checkUsage({ replies }: ProbeTalk): ProbeFinding {
  const has = (streamed: boolean) => replies.some(({ isStreamed, result }) => isStreamed === streamed && result.usage);
  if (has(true) && has(false)) return ok('token counts with and without streaming');
  if (!has(true) && !has(false)) return notSupported('no token counts: usage and budgets are estimates');
  return notSupported(`token counts only ${has(true) ? 'with' : 'without'} streaming; estimates otherwise`);
}

/** Checks of instructions, texts and limits. */
export function chatChecks(): readonly ProbeCheck[] {
  return [
    {
      name: 'system role',
      calls: 1,
      run: async (talk) => {
        const system = { role: 'system' as const, content: 'Start every reply with the word NEST.' };
        const { message } = await talk.ask({ messages: [system, user('What is 2 + 2?')] });
        return /nest/i.test(message.content) ? ok() : failed('the reply ignores the system message');
      },
    },
    {
      name: 'unicode',
      calls: 1,
      run: async (talk) => {
        const { message } = await talk.ask({ messages: [user(`Repeat this text: 鸟 ${BIRD} é \ud83d`)] });
        return ok(message.content.includes(BIRD) ? '' : 'accepted, but not repeated by the model');
      },
    },
    {
      name: 'max tokens',
      calls: 1,
      run: checkMaxTokens,
    },
  ];
}

async function checkMaxTokens(talk: ProbeTalk): Promise<ProbeFinding> {
  const messages = [user('Write the numbers from 1 to 200 in words.')];
  const { finishReason, usage } = await talk.ask({ messages, parameters: { maxTokens: MAX_TOKENS } });
  const refusal = refusalOf(talk, ['maxTokens']);
  if (refusal) return refusal;
  const isOver = (usage?.completionTokens ?? 0) > 2 * MAX_TOKENS;
  return isOver ? failed(`the reply has ${usage?.completionTokens} tokens`) : ok(`the reply ends with ${finishReason}`);
}

/** Checks of one or several parameters; an unsupported one needs no call. */
export function parameterChecks(talk: Pick<ProbeTalk, 'capabilities' | 'llm'>): readonly ProbeCheck[] {
  const { capabilities } = talk;
  return [
    parameterCheck('temperature', { temperature: 0.5 }, capabilities),
    parameterCheck('top p', { topP: 0.9 }, capabilities),
    parameterCheck('stop', { stop: ['FOUR'] }, capabilities, 'Write these words: ONE TWO THREE FOUR FIVE SIX'),
    parameterCheck('seed', { seed: 7 }, capabilities),
    parameterCheck('penalties', { frequencyPenalty: 0.1, presencePenalty: 0.1 }, capabilities),
  ];
}

function parameterCheck(
  name: string,
  parameters: ModelParameters,
  { parameterLimits }: ModelCapabilities,
  text: string = READY,
): ProbeCheck {
  const { taken, refused } = fitParameters(parameters, parameterLimits);
  const names = Object.keys(taken) as ParameterName[];
  if (names.length === 0) {
    const reason = `the model takes ${refused.map(({ reason: why }) => why).join(', ')}`;
    return { name, calls: 0, run: ({ llm }) => unsupported(llm, Object.keys(parameters) as ParameterName[], reason) };
  }
  return {
    name,
    calls: 1,
    run: async (talk) => {
      const { message } = await talk.ask({ messages: [user(text)], parameters: taken });
      const refusal = refusalOf(talk, names);
      if (refusal) return refusal;
      if (taken.stop && /five/i.test(message.content)) return notSupported('the provider ignores it');
      return ok();
    },
  };
}

/** A parameter that the table of the provider excludes. */
function unsupported(llm: ProbeTalk['llm'], names: readonly ParameterName[], reason: string): ProbeFinding {
  const set = names.filter((name) => llm.parameters[name] !== undefined).map(variableOf);
  if (set.length === 0 || llm.unsupportedParameters === 'drop') return notSupported(reason);
  const detail = `${reason}, and ${set.join(', ')} is set: the server does not start`;
  return { ...failed(detail, { assignments: ['LLM_UNSUPPORTED_PARAMETERS=drop'] }), isBlocking: true };
}

/** The finding if the provider has refused some of the parameters. */
function refusalOf(talk: ProbeTalk, names: readonly ParameterName[]): ProbeFinding | undefined {
  const omitted = [...talk.changes()].filter(([, other]) => other === null).map(([field]) => PARAMETERS[field]);
  const refused = names.filter((name) => omitted.includes(name));
  if (refused.length === 0) return undefined;
  const { droppable = [], parameters } = talk.llm;
  const list = refused.join(', ');
  if (refused.every((name) => droppable.includes(name))) return notSupported(`${list}: omitted, as the settings allow`);
  const set = refused.filter((name) => parameters[name] !== undefined && !droppable.includes(name));
  if (set.length === 0) return adapted(`the provider refuses ${list}`, { refused });
  const detail = `the provider refuses ${list}, and ${set.map(variableOf).join(', ')} is set: every chat fails`;
  return { ...failed(detail, { refused }), isBlocking: true };
}

function variableOf(name: ParameterName): string {
  return `LLM_${name.replace(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase()}`;
}

/** Some models refuse tools beside reasoning. */
export const EFFORT_CHECK: ProbeCheck = {
  name: 'effort',
  calls: 0,
  run: (talk) => (talk.changes().has(REASONING_OFF) ? adapted(REASONING_OFF, {}) : ok('no setting is needed')),
};
