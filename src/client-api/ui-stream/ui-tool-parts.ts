import type { WaitingRequest } from '../../run/decision/index.js';
import type { RunEvent } from '../../run/event/index.js';
import { findCall, toClientCallId } from '../client-call-id.js';
import type { UiChunk } from './ui-chunk.types.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type HumanDecision = Extract<Event<'policy.decided'>, { request_id: string }>;

const OF_SERVER = { dynamic: true, providerExecuted: true } as const;

/** The tool parts of a message: calls of this server's tools, and those that the page executes. */
export class UiToolParts {
  /** Places of calls, such as `1:2`, by iteration and call id. */
  private readonly places = new Map<string, string>();
  private readonly shown = new Set<string>();
  /** Calls that this stream has shown to the page, which otherwise has their outputs and decisions. */
  private shownHere = new Set<string>();
  private asked = new Set<string>();
  private readonly denied = new Set<string>();

  /** @param clientTools the tools that the page executes */
  constructor(
    private readonly runId: string,
    private readonly clientTools: ReadonlySet<string>,
  ) {}

  /** The page has all parts so far. */
  continue(): void {
    this.shownHere = new Set();
    this.asked = new Set();
  }

  place({ iteration, tool_calls: calls }: Event<'message.completed'>): void {
    for (const [index, { id }] of calls.entries()) this.places.set(`${iteration}:${id}`, `${iteration}:${index + 1}`);
  }

  /** A call of the page is shown when the run waits for it. */
  start(event: Event<'tool.started'>): readonly UiChunk[] {
    const { tool, arguments: args } = event;
    return this.clientTools.has(tool) ? [] : this.show(this.idOf(event), tool, args);
  }

  complete(event: Event<'tool.completed'>): readonly UiChunk[] {
    const { tool, success, result, error, code = 'TOOL_FAILED' } = event;
    const id = this.idOf(event);
    const isClient = this.clientTools.has(tool);
    if (isClient && !this.shownHere.has(id)) return [];
    const shown = this.show(id, tool, '{}');
    const base = { toolCallId: id, ...(!isClient && OF_SERVER) };
    if (success) return [...shown, { type: 'tool-output-available', ...base, output: result ?? null }];
    if (this.denied.has(id)) return [...shown, { type: 'tool-output-denied', toolCallId: id }];
    return [...shown, { type: 'tool-output-error', ...base, errorText: error ?? code }];
  }

  /** Shows a call that waits for its result or for approval. */
  ask({ step, tool, arguments: args, kind, reason }: WaitingRequest): readonly UiChunk[] {
    const place = { runId: this.runId, step };
    const toolCallId = toClientCallId(place);
    const shown = this.show(toolCallId, tool, args);
    const approvalId = toClientCallId(place, 'approval');
    if (kind !== 'approval' || this.asked.has(approvalId)) return shown;
    this.asked.add(approvalId);
    return [...shown, { type: 'tool-approval-request', approvalId, toolCallId, ...(reason && { reason }) }];
  }

  decide({ request_id: requestId, decision, reason }: HumanDecision): readonly UiChunk[] {
    const [kind, ...place] = requestId.split(':');
    if (kind !== 'approval' || (decision !== 'approved' && decision !== 'denied')) return [];
    const step = `tool:${place.join(':')}`;
    const approved = decision === 'approved';
    if (!approved) this.denied.add(toClientCallId({ runId: this.runId, step }));
    const approvalId = toClientCallId({ runId: this.runId, step }, 'approval');
    if (!this.asked.has(approvalId)) return [];
    return [{ type: 'tool-approval-response', approvalId, approved, ...(reason && { reason }) }];
  }

  private show(toolCallId: string, toolName: string, args: string): readonly UiChunk[] {
    if (this.shown.has(toolCallId)) return [];
    this.shown.add(toolCallId);
    this.shownHere.add(toolCallId);
    const ofServer = this.clientTools.has(toolName) ? {} : OF_SERVER;
    return [{ type: 'tool-input-available', toolCallId, toolName, input: toInput(args), ...ofServer }];
  }

  private idOf({ iteration, call_id: callId }: Event<'tool.started'> | Event<'tool.completed'>): string {
    const place = findCall(callId, (id) => this.places.get(`${iteration}:${id}`));
    return place === undefined ? callId : toClientCallId({ runId: this.runId, step: `tool:${place}` });
  }
}

/** The arguments as a value; as text if the model wrote invalid JSON. */
function toInput(args: string): unknown {
  try {
    return JSON.parse(args) as unknown;
  } catch {
    return args;
  }
}
