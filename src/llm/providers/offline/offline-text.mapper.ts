import type { OfflineTool } from './offline-rule.types.js';

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
const CAN_EN =
  'I can calculate (what is 6*7?), look up the time (what time is it in Tokyo?) and work on texts (reverse "hello"). I call other tools by name (call weather Oslo)';
const CAN_ZH =
  '我会计算（计算 100 + 200），能告诉你时间（东京现在几点？），也能处理文字（把 hello 变成大写），还能按名称调用其他工具（调用 weather 奥斯陆）';

export function greeting(isChinese: boolean): string {
  return isChinese
    ? `你好！我是 Jackdaw 的离线模型。${CAN_ZH}。${HOW_ZH}`
    : `Hello! I am Jackdaw's offline model. ${CAN_EN}. ${HOW_EN}`;
}

export function thanks(isChinese: boolean): string {
  return isChinese ? '不客气！' : 'You are welcome!';
}

export function farewell(isChinese: boolean): string {
  return isChinese ? '再见！' : 'Goodbye!';
}

export function describeSelf(isChinese: boolean): string {
  return isChinese
    ? `我是 Jackdaw 的离线模型：一组规则，不是语言模型。${CAN_ZH}。${HOW_ZH}`
    : `I am Jackdaw's offline model: a few rules, not a language model. ${CAN_EN}. ${HOW_EN}`;
}

/** Answer to a question that no rule matches. */
export function beyondMeans(isChinese: boolean): string {
  return isChinese
    ? `我是 Jackdaw 的离线模型：一组规则，不是语言模型，没有听懂这个问题。${CAN_ZH}。${HOW_ZH}`
    : `I am Jackdaw's offline model: a few rules, not a language model, and I did not understand. ${CAN_EN}. ${HOW_EN}`;
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
