import type { ToolChoice } from '../../llm/chat/index.js';
import { createToolNow, inputOf } from '../../tool/index.js';
import type { InputSource } from '../../tool/input/index.js';
import type { Tool } from '../../tool/method/index.js';
import { toolSignature } from './tool-signature.mapper.js';

const RUN_SCRIPT = 'run_script';
/** Name for an application that has a tool of the name above. */
const OTHER_NAME = 'run_tool_script';

const DESCRIPTION =
  'Runs a JavaScript script that calls tools, and returns its value. Use it for each task that needs tools; ' +
  'the instructions list the tools of scripts.';

const INPUT = {
  type: 'object',
  properties: {
    script: {
      type: 'string',
      pattern: String.raw`\S`,
      description: 'Body of an async function: `const a = await tools.name({ … }); return a;`',
    },
  },
  required: ['script'],
};
let input: InputSource | undefined;

/** Returns the same list for the same tools: protocols and providers cache by identity. */
const lists = new WeakMap<readonly Tool[], readonly Tool[]>();

/**
 * The tools as the model of an agent with code mode sees them: those that only the model can call, and one that runs
 * scripts with the others. Agents, tools of the client, and tools that load something for the model stay direct, and so
 * does the tool that the request makes the model call.
 * @param tools may contain the tool of scripts already, whose tools stay in its scripts
 */
export function withScriptTool(tools: readonly Tool[], choice?: ToolChoice): readonly Tool[] {
  const chosen = typeof choice === 'object' ? choice.name : undefined;
  if (chosen !== undefined) return listWithScripts(tools, chosen);
  let list = lists.get(tools);
  if (!list) lists.set(tools, (list = listWithScripts(tools)));
  return list;
}

function listWithScripts(tools: readonly Tool[], chosen?: string): readonly Tool[] {
  const all = withScripted(tools);
  const scripted = all.filter((tool) => isScripted(tool) && tool.definition.name !== chosen);
  if (scripted.length === 0) return all;
  return [...all.filter((tool) => !scripted.includes(tool)), scriptTool(scripted, all)];
}

/** The tools themselves, with those of scripts in place of the tool of scripts. */
export function withScripted(tools: readonly Tool[]): readonly Tool[] {
  return tools.flatMap((tool) => (tool.scripted ? [...tool.scripted.values()] : [tool]));
}

function isScripted({ child, isDirect, metadata }: Tool): boolean {
  return !child && !isDirect && !metadata.isClient;
}

function scriptTool(scripted: readonly Tool[], all: readonly Tool[]): Tool {
  const isTaken = all.some(({ definition }) => definition.name === RUN_SCRIPT);
  const tool = createToolNow(
    {
      name: isTaken ? OTHER_NAME : RUN_SCRIPT,
      description: DESCRIPTION,
      source: 'code mode',
      effect: 'read',
      private: false,
    },
    () => (input ??= inputOf(INPUT)),
    () => undefined,
  );
  return { ...tool, scripted: new Map(scripted.map((one) => [one.definition.name, one])) };
}

/** The part of the system prompt about scripts; empty without code mode. Descriptions of tools have limits at providers. */
export function describeScripts(tools: readonly Tool[]): string {
  const tool = tools.find(({ scripted }) => scripted);
  if (!tool) return '';
  const signatures = [...tool.scripted!.values()].map(({ definition }) => toolSignature(definition));
  return [
    `Call these tools from JavaScript, by the tool ${tool.definition.name}. A script is the body of an async function.`,
    'Make dependent calls in one script, independent ones with Promise.all, and return a small value: you see nothing else.',
    'A failed call throws an Error with its code. Scripts have no clock, random numbers, network, timers or imports.',
    '```ts',
    'declare const tools: {',
    ...signatures,
    '};',
    '```',
  ].join('\n');
}
