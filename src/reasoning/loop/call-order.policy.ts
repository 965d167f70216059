import type { ToolCall } from '../../llm/index.js';
import type { CallResources, Tool, ToolExecutor } from '../../tool/index.js';
import type { Loop } from '../reasoning.types.js';

const NOTHING: CallResources = { names: [], isChanging: false };

/**
 * For every call of the reply, the indexes of the earlier calls that must end before it starts: calls that share a
 * resource with it, if one of the two changes it, and calls of the same stateful tool. `null` if all calls may run in
 * parallel.
 */
export async function orderOf(loop: Loop, tools: ToolExecutor): Promise<readonly (readonly number[])[] | null> {
  const { calls } = loop.decoded!;
  if (calls.length < 2 || !calls.some(({ name }) => isOrdered(loop.tools.get(name)))) return null;
  const resources = await Promise.all(calls.map((call) => resourcesOf(loop, call, tools)));
  const sharesState = (one: number, other: number) =>
    calls[one]!.name === calls[other]!.name && loop.tools.get(calls[one]!.name)?.metadata.state !== undefined;
  return resources.map((own, at) =>
    indexes(at).filter((earlier) => isConflict(resources[earlier]!, own) || sharesState(earlier, at)),
  );
}

function isOrdered(tool: Tool | undefined): boolean {
  return tool?.metadata.resources !== undefined || tool?.metadata.state !== undefined;
}

async function resourcesOf(loop: Loop, call: ToolCall, tools: ToolExecutor): Promise<CallResources> {
  const tool = loop.tools.get(call.name);
  return tool?.metadata.resources ? tools.resources(tool, call) : NOTHING;
}

function isConflict(one: CallResources, other: CallResources): boolean {
  return (one.isChanging || other.isChanging) && one.names.some((name) => other.names.includes(name));
}

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
