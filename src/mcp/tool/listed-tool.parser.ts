import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../kernel/index.js';

/** A tool of a list, or the defect because of which only this tool is refused. */
export type ListedTool =
  { readonly tool: McpTool } | { readonly refused: { readonly name: string; readonly why: string } };

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** @param at index in the list, which replaces a missing name */
export function parseListedTool(given: unknown, at: number): ListedTool {
  if (!isJsonObject(given)) return { refused: { name: `#${at}`, why: `it is ${kindOf(given)} instead of an object` } };
  const { name } = given;
  if (typeof name !== 'string')
    return { refused: { name: `#${at}`, why: `its name is ${kindOf(name)} instead of a text` } };
  const why = isOnlyTask(given) ? ONLY_TASK : defectOf(given);
  return why === undefined ? { tool: usedParts(name, given) } : { refused: { name, why } };
}

const ONLY_TASK = 'it runs only as a task, which Jackdaw does not support';

type Members = Readonly<Record<string, unknown>>;

/** The schemas themselves are checked when they are compiled. */
function defectOf(given: Members): string | undefined {
  const { inputSchema, outputSchema, annotations } = given;
  for (const member of ['title', 'description']) {
    const value = given[member];
    if (value !== undefined && typeof value !== 'string') return `its ${member} is ${kindOf(value)} instead of a text`;
  }
  if (inputSchema === undefined) return 'it has no inputSchema';
  if (!isJsonObject(inputSchema)) return `its inputSchema is ${kindOf(inputSchema)} instead of an object`;
  if (inputSchema['type'] !== 'object') return 'its inputSchema does not have the type "object"';
  if (outputSchema !== undefined && !isJsonObject(outputSchema))
    return `its outputSchema is ${kindOf(outputSchema)} instead of an object`;
  return annotations === undefined ? undefined : annotationsDefect(annotations);
}

/** The protocol of 2025-11-25 refuses an ordinary call of such a tool. */
function isOnlyTask({ execution }: Members): boolean {
  return isJsonObject(execution) && execution['taskSupport'] === 'required';
}

function annotationsDefect(annotations: unknown): string | undefined {
  if (!isJsonObject(annotations)) return `its annotations are ${kindOf(annotations)} instead of an object`;
  const { title } = annotations;
  if (title !== undefined && typeof title !== 'string') return `the title of its annotations is ${kindOf(title)}`;
  const hint = HINTS.find((name) => annotations[name] !== undefined && typeof annotations[name] !== 'boolean');
  return hint === undefined ? undefined : `its ${hint} is ${kindOf(annotations[hint])} instead of true or false`;
}

/** Only these members are used; a defect in any other one has no effect. */
function usedParts(
  name: string,
  { title, description, inputSchema, outputSchema, annotations, _meta }: Members,
): McpTool {
  const hints = annotations && hintsOf(annotations);
  const parts = { title, description, inputSchema, outputSchema, annotations: hints, _meta: appMetaOf(_meta) };
  const present = Object.entries(parts).filter(([, value]) => value !== undefined);
  return { name, ...Object.fromEntries(present) } as McpTool;
}

/** The members of MCP Apps: `ui`, and the flat form of its older drafts. */
function appMetaOf(meta: unknown): Members | undefined {
  const members = Object.entries(isJsonObject(meta) ? meta : {}).filter(([key]) => /^ui(?:$|\/)/.test(key));
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

function hintsOf(annotations: unknown): Members {
  const members = annotations as Members;
  return Object.fromEntries(
    ['title', ...HINTS].flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])),
  );
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
}
