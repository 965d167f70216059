import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { assertSchemaLimits, attempt } from '../../tool/index.js';
import { mapInSlices } from '../time-slice.policy.js';
import type { ListedTools } from './tool-list.loader.js';

/** Refuses the tools whose schemas exceed the limits, before anything processes the schemas. */
export async function withinLimits({ tools, refused }: ListedTools, signal: AbortSignal): Promise<ListedTools> {
  const defects = new Map<string, string>();
  const check = ({ name, inputSchema, outputSchema }: McpTool): void => {
    const problems: string[] = [];
    attempt(() => assertSchemaLimits(inputSchema, 'its input'), problems);
    if (outputSchema) attempt(() => assertSchemaLimits(outputSchema, 'its output'), problems);
    if (problems.length > 0) defects.set(name, problems.join('; '));
  };
  await mapInSlices(tools, check, signal);
  return { tools: tools.filter(({ name }) => !defects.has(name)), refused: new Map([...refused, ...defects]) };
}
