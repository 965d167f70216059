import { AppError } from '../errors/index.js';
import { managerProblem } from './stateful/stateful-options.policy.js';
import type { Tool, ToolMetadata } from './tool.types.js';

/** Names accepted by the function calling of every provider. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Reserved: in the text protocols these actions end a run or mean that no tool is called; case-insensitive. */
const RESERVED = new Set(['finish', 'none', 'null', 'nil', 'na', 'nothing']);

/** Reason why a tool name is rejected; undefined for a valid name. */
export function refusedName(name: unknown): string | undefined {
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    return `the name ${JSON.stringify(name)} is refused: use 1 to 64 letters, digits, "_" or "-"`;
  }
  if (RESERVED.has(name.toLowerCase())) {
    return `the name "${name}" is reserved: as an action it ends a run or says that no tool is wanted; choose another`;
  }
  return undefined;
}

/**
 * @param ownManagers names of the application's own state managers
 * @throws AppError `TOOL_INVALID` for a reserved or illegal name, and for an unknown state manager
 */
export function assertAccepted({ definition, metadata }: Tool, ownManagers: ReadonlySet<string>): void {
  const refusal = refusedName(definition.name) ?? managerProblem(metadata.state, ownManagers);
  if (refusal) throw new AppError('TOOL_INVALID', `${metadata.source}: ${refusal}.`);
}

/** The error for two tools with one name. */
export function duplicateOf(name: string, first: ToolMetadata, second: ToolMetadata): AppError {
  const sources = [first.source, second.source];
  const modules = [first.module ?? null, second.module ?? null];
  const hint = first.source === second.source ? sameSourceHint(first.source) : 'give one of them another name';
  const message = `Two tools are named "${name}": ${sources.join(' and ')}${inModules(first, second)}; ${hint}.`;
  return new AppError('TOOL_DUPLICATE', message, { details: { tool: name, sources, modules } });
}

/** Modules of the two tools, as far as known, for an error message. */
function inModules(first: ToolMetadata, second: ToolMetadata): string {
  const [one, other] = [first.module, second.module];
  if (one !== undefined && one === other) return ` (both in the module ${one})`;
  if (one !== undefined && other !== undefined) return ` (in the modules ${one} and ${other})`;
  if (one !== undefined) return ` (the first in the module ${one})`;
  return other === undefined ? '' : ` (the second in the module ${other})`;
}

function sameSourceHint(source: string): string {
  if (source.startsWith('registry.')) return 'unregister the first before you replace it';
  return 'the provider is probably listed in two modules: provide it in one and export it from there';
}
