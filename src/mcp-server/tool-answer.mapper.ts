import type { CallToolResult, ContentBlock, Tool as McpTool } from '@modelcontextprotocol/server';
import type { DirectCallAnswer, RunAnswer } from '../agent/index.js';
import { isJsonObject, type JsonSchema, parseImage } from '../common/index.js';
import type { WaitingRequest } from '../run/index.js';
import type { Tool } from '../tool/index.js';
import { givenContent } from './mcp-content.factory.js';

/** Keys of Jackdaw in `_meta`. */
const RUN_ID = 'jackdaw/run_id';
const STATUS = 'jackdaw/status';
const CODE = 'jackdaw/code';
/** On a tool: its description is untrusted. On a result: its content is untrusted. */
const UNTRUSTED = 'jackdaw/untrusted';

/** A tool in the format of the protocol. */
export function toMcpTool({ definition, metadata }: Tool): McpTool {
  const { name, description, inputSchema, outputSchema } = definition;
  const { effect, egress, untrusted, untrustedDefinition = false } = metadata;
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
    ...((untrusted || untrustedDefinition) && { _meta: { [UNTRUSTED]: true } }),
  };
}

/** A direct call with the images of its result, as https URLs and data URIs. */
export interface CallWithImages extends DirectCallAnswer {
  readonly imageUrls: readonly string[];
}

/** The result of a tool call. */
export function toToolAnswer(answer: CallWithImages, tool: Tool | undefined): CallToolResult {
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

function succeeded({ result: value, imageUrls }: CallWithImages, outputSchema: JsonSchema | undefined): CallToolResult {
  const images = imageUrls.flatMap(toImage);
  const given = givenContent(value);
  if (given) return { content: [...given, ...images] };
  const content = [text(typeof value === 'string' ? value : JSON.stringify(value ?? null)), ...images];
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

function toImage(url: string): ContentBlock[] {
  const image = parseImage(url);
  if (typeof image === 'string') return [];
  return image.kind === 'url'
    ? [{ type: 'resource_link', uri: image.url, name: 'image' }]
    : [{ type: 'image', data: image.data, mimeType: image.mediaType }];
}

function text(value: string): ContentBlock {
  return { type: 'text', text: value };
}
