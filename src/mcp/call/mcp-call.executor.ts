import type { CallToolResult, Client, InputRequiredResult, Tool as McpTool } from '@modelcontextprotocol/client';
import { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { suspend, type SuspendOptions, type Suspension, type ToolEffect, UnknownOutcome } from '../../tool/index.js';
import type { ToolContext } from '../../tool/method/index.js';
import { IllustratedResult } from '../../tool/result/index.js';
import { noteOnSpan, outgoingTraceParent } from '../../telemetry/index.js';
import type { McpConnection } from '../connection/mcp-connection.client.js';
import { McpError } from '../mcp.error.js';
import type { McpServer } from '../mcp-server.types.js';
import { rawOf } from '../process/raw-result.mapper.js';
import { LIVE_QUESTION_MS, type LiveCalls, type LiveOutcome } from './live-calls.registry.js';
import {
  answerSchemaOf,
  type McpMemo,
  questionOf,
  toElicitAnswer,
  toInputResponses,
  toQuestion,
} from './mcp-question.mapper.js';
import { toMcpResult } from './mcp-result.mapper.js';

/** Maximum delay of a timer, in ms. */
const MAX_MS = 2 ** 31 - 1;

/** Outcome of a call: a result, or a question to a person. */
type CallValue = JsonValue | IllustratedResult | Suspension;

/** The connection of a call. */
export interface CallChannel {
  readonly connection: McpConnection;
  /** Calls of the connection that ask questions. */
  readonly live: LiveCalls;
}

/** Calls of one tool of a server. */
export class McpCalls {
  constructor(
    private readonly tool: McpTool,
    private readonly server: McpServer,
    private readonly effect: ToolEffect,
  ) {}

  /**
   * Makes a call, or resumes one that suspended a person.
   * @throws McpError; AppError `TOOL_INVALID_RESULT`; the signal's reason if it aborts
   */
  async make(channel: CallChannel, input: unknown, context: ToolContext): Promise<CallValue | UnknownOutcome> {
    const memo = context.answer?.memo as unknown as McpMemo | undefined;
    const { signal } = context;
    if (memo?.live === undefined) {
      return channel.connection.use((client) => this.call(client, channel.live, input, context), signal);
    }
    const { live } = memo;
    if (channel.live.isOpen(live)) {
      const answer = toElicitAnswer(context.answer!.value, context.answer!.denied !== undefined, memo.links.length > 0);
      return channel.connection.use(
        async () => this.valueOfOutcome(await channel.live.resume(live, answer, signal)),
        signal,
      );
    }
    if (this.effect === 'once' && channel.live.isNewlyLost(live)) return this.lost();
    return channel.connection.use((client) => this.call(client, channel.live, input, context), signal);
  }

  private async call(client: Client, live: LiveCalls, input: unknown, context: ToolContext) {
    if (client.getProtocolEra() === 'legacy') {
      return this.valueOfOutcome(
        await live.start((signal) => this.send(client, input, context, { signal, timeout: MAX_MS }), context.signal),
      );
    }
    const { answer, signal } = context;
    const memo = answer?.memo as unknown as McpMemo | undefined;
    const { requestState } = memo ?? {};
    const retry = memo && {
      inputResponses: toInputResponses(memo, answer!),
      ...(requestState !== undefined && { requestState }),
    };
    const result = await this.send(client, input, context, { signal, timeout: MAX_MS, retry });
    return isInputRequired(result) ? this.suspended(() => toQuestion(this.server.name, result)) : this.valueOf(result);
  }

  private async send(
    client: Client,
    input: unknown,
    context: ToolContext,
    { signal, timeout, retry }: { signal: AbortSignal; timeout: number; retry?: object | undefined },
  ): Promise<CallToolResult> {
    const { outputSchema: _ours, ...toolDefinition } = this.tool;
    const traceparent = outgoingTraceParent();
    noteOnSpan({ mcpMethod: 'tools/call' });
    return client.callTool(
      {
        name: this.tool.name,
        arguments: input as Record<string, unknown>,
        ...(traceparent !== undefined && { _meta: { traceparent } }),
        ...retry,
      },
      {
        signal,
        timeout,
        maxTotalTimeout: timeout,
        allowInputRequired: true,
        toolDefinition,
        onprogress: ({ progress, total, message }) => context.progress(progress, total, message),
      },
    );
  }

  private valueOfOutcome(outcome: LiveOutcome): CallValue {
    if (outcome.kind === 'result') return this.valueOf(outcome.result);
    const { id, params } = outcome;
    const memo: McpMemo = { live: id, keys: [], links: params.mode === 'url' ? [''] : [] };
    return this.suspended(() => ({
      question: questionOf(this.server.name, params),
      schema: answerSchemaOf(params),
      memo: memo as unknown as JsonValue,
      takesDenial: true,
      expiresInMs: LIVE_QUESTION_MS,
    }));
  }

  private suspended(question: () => SuspendOptions): Suspension {
    const { name } = this.server;
    try {
      return suspend(question());
    } catch (cause) {
      if (cause instanceof McpError) throw cause;
      const message = `MCP server "${name}" sent an invalid question.`;
      throw new McpError('TOOL_EXECUTION_FAILED', message, { server: name }, { cause });
    }
  }

  private valueOf(result: CallToolResult): JsonValue | IllustratedResult {
    const { value, isStructured, images, content } = toMcpResult(rawOf(result), this.tool.name);
    if (!this.tool.outputSchema || isStructured) {
      return images.length > 0 || content ? new IllustratedResult(value, images, content) : value;
    }
    throw new AppError(
      'TOOL_INVALID_RESULT',
      'The tool declares an output schema, but returned no structured content.',
    );
  }

  private lost(): UnknownOutcome {
    const { name } = this.server;
    return new UnknownOutcome(
      `MCP server "${name}" asked a question during the call, and the process that held the call open has ended.`,
    );
  }
}

function isInputRequired(result: CallToolResult | InputRequiredResult): result is InputRequiredResult {
  return (result as { resultType?: unknown }).resultType === 'input_required';
}
