import type { CallToolResult, ContentBlock, Tool as McpTool } from '@modelcontextprotocol/server';
import type { DirectCallAnswer } from '../agent/index.js';
import type { RunAnswer } from '../agent/answer/index.js';
import { isJsonObject, type JsonSchema, type JsonValue } from '../kernel/json/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import { type PublishedImage, type RunFile, toPublishedFile } from '../run/files/index.js';
import type { Tool } from '../tool/method/index.js';
import { fileReference } from '../tool/result/index.js';
import type { McpContentBlock } from './mcp-protocol.types.js';

const CONTENT_KEY = 'mcp_content';
const BLOCK_TYPES = new Set<unknown>(['text', 'image', 'audio', 'resource', 'resource_link']);

/** A tool result in MCP content blocks: texts, images, audio, resources. Models and the REST API receive it as JSON. */
export function mcpContent(blocks: readonly McpContentBlock[]): JsonValue {
  return { [CONTENT_KEY]: structuredClone(blocks) as unknown as JsonValue };
}

/** The blocks of a result from `mcpContent`. */
export function asContent(value: unknown): readonly McpContentBlock[] | undefined {
  if (typeof value !== 'object' || value === null || !(CONTENT_KEY in value)) return undefined;
  const { [CONTENT_KEY]: blocks } = value;
  const isContent = Array.isArray(blocks) && Object.keys(value).length === 1 && blocks.every(isBlock);
  return isContent ? (blocks as McpContentBlock[]) : undefined;
}

function isBlock(block: unknown): boolean {
  return typeof block === 'object' && block !== null && 'type' in block && BLOCK_TYPES.has(block.type);
}

/** Keys of Jackdaw in `_meta`. */
const RUN_ID = 'jackdaw/run_id';
const STATUS = 'jackdaw/status';
const CODE = 'jackdaw/code';
/** On a tool: its description is untrusted. On a result: its content is untrusted. */
const UNTRUSTED = 'jackdaw/untrusted';

/** A tool in the format of the protocol. */
export function toMcpTool({ definition, metadata }: Tool): McpTool {
  const { name, description, inputSchema, outputSchema } = definition;
  const { effect, egress, untrusted, untrustedDefinition = false, app } = metadata;
  const meta = { ...app?.meta, ...((untrusted || untrustedDefinition) && { [UNTRUSTED]: true }) };
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    ...(outputSchema && { outputSchema }),
    annotations: {
      readOnlyHint: effect === 'read',
      idempotentHint: effect !== 'once',
      destructiveHint: effect === 'once',
      openWorldHint: egress || untrusted,
    },
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

/** A direct call with the binary content of its result. */
export interface CallWithFiles extends DirectCallAnswer {
  readonly contents: readonly RunFile[];
}

/** The result of a tool call. */
export function toToolAnswer(answer: CallWithFiles, tool: Tool | undefined): CallToolResult {
  const { run_id, status, tool: name } = answer;
  const meta = { [RUN_ID]: run_id, [STATUS]: status, ...(tool?.metadata.untrusted && { [UNTRUSTED]: true }) };
  switch (status) {
    case 'completed':
      return { ...succeeded(answer, tool?.definition.outputSchema), _meta: meta };
    case 'failed':
    case 'cancelled':
      return failed(answer.error ?? 'The call failed.', { ...meta, [CODE]: answer.code });
    case 'waiting':
      return failed(waitingText(`The call of "${name}"`, run_id, answer.waiting), meta);
    case 'queued':
    case 'running':
      return failed(handedOverText(`The call of "${name}"`, run_id), meta);
  }
}

/** The result of a call to an agent. */
export function toAgentAnswer(answer: RunAnswer): CallToolResult {
  const { run_id, session_id, status, agent, result } = answer;
  const meta = { [RUN_ID]: run_id, [STATUS]: status };
  switch (status) {
    case 'completed': {
      const output = answer.output === undefined ? {} : { output: answer.output };
      return {
        content: [text(result)],
        structuredContent: { answer: result, session_id: session_id ?? '', run_id, ...output },
        _meta: meta,
      };
    }
    case 'failed':
    case 'cancelled':
      return failed(answer.error?.message ?? `The run of agent "${agent}" was cancelled.`, {
        ...meta,
        [CODE]: answer.error?.code ?? 'RUN_CANCELLED',
      });
    case 'waiting':
      return failed(waitingText(`Agent "${agent}"`, run_id, answer.waiting), meta);
    case 'queued':
    case 'running':
      return failed(handedOverText(`The call of agent "${agent}"`, run_id), meta);
  }
}

/** An error result that the model reads. */
export function failed(message: string, meta: Record<string, unknown> = {}): CallToolResult {
  return { content: [text(message)], isError: true, _meta: meta };
}

function succeeded(answer: CallWithFiles, outputSchema: JsonSchema | undefined): CallToolResult {
  const { result, run_id, contents } = answer;
  const originals = new OriginalContent(contents);
  const value = result === undefined ? result : originals.in(result, outputSchema !== undefined);
  const given = asContent(value);
  const links = (answer.images ?? []).flatMap(toLink);
  const blocks = [
    ...contents.filter((file) => !originals.used.has(file)).map((file) => toBlock(file, run_id)),
    ...links,
  ];
  if (given) return { content: [...given, ...blocks] };
  const content = [text(typeof result === 'string' ? result : JSON.stringify(result ?? null)), ...blocks];
  const isObject = isJsonObject(value);
  if (!outputSchema) return { content, ...(isObject && { structuredContent: value }) };
  // A truncated result is a text.
  if (outputSchema['type'] === 'object' && !isObject) {
    return failed('The result was truncated because of its size, so it does not match the tool’s output schema.');
  }
  return { content, structuredContent: value };
}

/**
 * A waiting call has no result. With an output schema only an error may omit the structured content, and an error keeps
 * the model from treating the call as done.
 */
function waitingText(what: string, runId: string, waiting: readonly WaitingRequest[] = []): string {
  const pending = waiting.map(
    ({ kind, tool, question, reason }) => `${kind} for "${tool}": ${question ?? reason ?? ''}`,
  );
  return (
    `${what} is not completed: it waits for a person (${pending.join('; ')}). Do not call again: it resumes by itself ` +
    `after a decision on run ${runId} (POST /api/runs/${runId}/approve, /deny, /input or /settle). Read the outcome in the resource jackdaw://runs/${runId}.`
  );
}

function handedOverText(what: string, runId: string): string {
  return `${what} resumes as run ${runId} when the server has restarted: do not call again, but read the resource jackdaw://runs/${runId}.`;
}

function toLink({ url }: PublishedImage): ContentBlock[] {
  return url === undefined ? [] : [{ type: 'resource_link', uri: url, name: 'image' }];
}

function text(value: string): ContentBlock {
  return { type: 'text', text: value };
}

/** Puts binary content back in the place of its references. */
class OriginalContent {
  /** The files that a value refers to. */
  readonly used = new Set<RunFile>();
  private readonly byReference: ReadonlyMap<string, RunFile>;

  constructor(files: readonly RunFile[]) {
    this.byReference = new Map(files.map((file) => [fileReference(toPublishedFile(file)), file]));
  }

  /**
   * The value as its tool returned it.
   * @param isData whether a text is data; by default it is for the model, and keeps its references
   */
  in(value: JsonValue, isData: boolean): JsonValue {
    const isText = typeof value === 'string' && !isData;
    return isText || this.byReference.size === 0 ? value : this.restored(value);
  }

  private restored(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.original(value);
    if (Array.isArray(value)) return value.map((item) => this.restored(item));
    if (!isJsonObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
    const entries = Object.entries(value as Readonly<Record<string, JsonValue>>);
    return Object.fromEntries(entries.map(([key, member]) => [key, this.restored(member)])) as JsonValue;
  }

  private original(reference: string): string {
    const file = this.byReference.get(reference);
    if (!file) return reference;
    this.used.add(file);
    return (file.prefix ?? '') + file.bytes.toString('base64');
  }
}

/** A content block with the bytes of a file. */
function toBlock({ n, mediaType: mimeType, bytes, name }: RunFile, runId: string): ContentBlock {
  const data = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  const uri = name !== undefined && URL.canParse(name) ? name : `jackdaw://runs/${runId}/files/${n}`;
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
}
