import type { OfflineQuestion, OfflineTool } from './offline-rule.types.js';

const EXAMPLES: Readonly<Record<string, string>> = {
  number: '1',
  integer: '1',
  boolean: 'true',
  array: '[]',
  object: '{}',
};
const HOW_EN =
  'To use a real model set OPENAI_API_KEY=… and start again, or LLM_PROVIDER=ollama for one on this machine.';
const HOW_ZH = '要使用真正的模型，请设置 OPENAI_API_KEY=… 后重新启动，或用 LLM_PROVIDER=ollama 使用本机模型。';
/** Requests that need a built-in tool, in English and Chinese, with an example. */
const ABILITIES: readonly (readonly [tool: string, english: string, chinese: string])[] = [
  ['calculator', 'calculate (what is 6*7?)', '会计算（计算 100 + 200）'],
  ['get_timestamp', 'look up the time (what time is it in Tokyo?)', '能告诉你时间（东京现在几点？）'],
  ['string_tools', 'work on texts (reverse "hello")', '能处理文字（把 hello 变成大写）'],
];

type Asked = Pick<OfflineQuestion, 'tools' | 'isChinese'>;

/** The abilities of the model with the tools of the agent. */
function abilities({ tools, isChinese }: Asked): string {
  if (tools.size === 0) return isChinese ? '这个智能体没有可以调用的工具' : 'This agent has no tools that I could call';
  const own = ABILITIES.filter(([tool]) => tools.has(tool));
  const other = [...tools.keys()].find((name) => !ABILITIES.some(([tool]) => tool === name));
  return isChinese ? abilitiesInChinese(own, other) : abilitiesInEnglish(own, other);
}

function abilitiesInEnglish(own: typeof ABILITIES, other: string | undefined): string {
  const example = other === undefined ? 'call weather Oslo' : `call ${other} …`;
  if (own.length === 0) return `I call tools by name (${example})`;
  const list = new Intl.ListFormat('en-GB').format(own.map(([, english]) => english));
  return `I can ${list}. I call other tools by name (${example})`;
}

function abilitiesInChinese(own: typeof ABILITIES, other: string | undefined): string {
  const example = other === undefined ? '调用 weather 奥斯陆' : `调用 ${other} …`;
  if (own.length === 0) return `我能按名称调用工具（${example}）`;
  return `我${own.map(([, , chinese]) => chinese).join('，')}，还能按名称调用其他工具（${example}）`;
}

export function greeting(asked: Asked): string {
  return asked.isChinese
    ? `你好！我是 Jackdaw 的离线模型。${abilities(asked)}。${HOW_ZH}`
    : `Hello! I am Jackdaw's offline model. ${abilities(asked)}. ${HOW_EN}`;
}

export function thanks({ isChinese }: Asked): string {
  return isChinese ? '不客气！' : 'You are welcome!';
}

export function farewell({ isChinese }: Asked): string {
  return isChinese ? '再见！' : 'Goodbye!';
}

export function describeSelf(asked: Asked): string {
  return asked.isChinese
    ? `我是 Jackdaw 的离线模型：一组规则，不是语言模型。${abilities(asked)}。${HOW_ZH}`
    : `I am Jackdaw's offline model: a few rules, not a language model. ${abilities(asked)}. ${HOW_EN}`;
}

/** Answer to a question that no rule matches. */
export function beyondMeans(asked: Asked): string {
  return asked.isChinese
    ? `我是 Jackdaw 的离线模型：一组规则，不是语言模型，没有听懂这个问题。${abilities(asked)}。${HOW_ZH}`
    : `I am Jackdaw's offline model: a few rules, not a language model, and I did not understand. ${abilities(asked)}. ${HOW_EN}`;
}

export function lacksPrevious(isChinese: boolean): string {
  return isChinese
    ? '这句话要接着前面的结果算，但这个会话里还没有结果。请写出完整的算式，例如 100 * 3。'
    : 'That refers to an earlier result, but this session has no result yet. Write the whole sum, for example 100 * 3.';
}

export function unknownPlace(place: string, isChinese: boolean): string {
  return isChinese
    ? `我是 Jackdaw 的离线模型，不知道“${place}”的时区。请说出大城市，或像 Europe/Oslo、UTC+2 这样的时区。${HOW_ZH}`
    : `I am Jackdaw's offline model and do not know the time zone of "${place}". Name a large city, or a zone such as Europe/Oslo or UTC+2. ${HOW_EN}`;
}

export function lacksTool(tool: string, isChinese: boolean): string {
  return isChinese
    ? `我是 Jackdaw 的离线模型。这需要工具 ${tool}，但当前智能体没有它，所以我做不到。${HOW_ZH}`
    : `I am Jackdaw's offline model. This needs the tool ${tool}, which this agent does not have, so I cannot do it. ${HOW_EN}`;
}

export function noTool(tool: string, tools: readonly string[], isChinese: boolean): string {
  const names = tools.join(isChinese ? '、' : ', ') || (isChinese ? '无' : 'none');
  return isChinese ? `没有工具 ${tool}。可用的工具：${names}。` : `There is no tool ${tool}. The tools are: ${names}.`;
}

/** How to call a tool whose arguments are missing or unclear. */
export function lacksArguments({ name, parameters }: OfflineTool, isChinese: boolean): string {
  const example = parameters.map((parameter) => `"${parameter.name}":${EXAMPLES[parameter.type] ?? '"…"'}`);
  const call = `${name} {${example.join(',')}}`;
  return isChinese
    ? `工具 ${name} 需要参数，例如：调用 ${call}`
    : `The tool ${name} needs its arguments, for example: call ${call}`;
}

export function listTools(tools: readonly OfflineTool[], isChinese: boolean): string {
  if (tools.length === 0) return isChinese ? '这个智能体没有工具。' : 'This agent has no tools.';
  const [first] = tools;
  const lines = tools.map(({ name, description }) => `- ${name}: ${firstSentence(description)}`);
  const how = isChinese ? `调用示例：调用 ${first?.name} …` : `To call one: call ${first?.name} …`;
  return [isChinese ? '我的工具：' : 'My tools:', ...lines, how].join('\n');
}

function firstSentence(description: string): string {
  return /^[\s\S]*?(?:[.!?](?=\s|$)|[。！？]|$)/.exec(description.trim())?.[0].replace(/\s+/g, ' ') ?? '';
}

export function welcome(name: string, isChinese: boolean): string {
  return isChinese
    ? `你好，${name}！我会在这个会话里记住你的名字。`
    : `Nice to meet you, ${name}. I remember your name in this session.`;
}

export function userName(name: string | undefined, isChinese: boolean): string {
  if (name !== undefined) return isChinese ? `你叫${name}。` : `Your name is ${name}.`;
  return isChinese ? '我还不知道你的名字。请说“我叫……”。' : 'I do not know your name yet. Say "My name is …".';
}

/** @param result the result of a failed call, with or without the loop's prefix `Error:` */
export function toolFailed(tool: string, result: string, isChinese: boolean): string {
  const error = result.replace(/^Error: */, '');
  return isChinese ? `调用工具 ${tool} 失败：${error}` : `The tool ${tool} failed: ${error}`;
}
