import { parseExactJson } from '../../kernel/json/index.js';
import type { RunStatus } from '../../run/index.js';
import { isLive, NO_USAGE, type RunEvent, type RunItem, type TerminalEvent } from '../../run/event/index.js';
import { addUsage } from '../../run/usage/index.js';
import type { AgentStep, AnsweredNode, AnsweredTool, RunAnswer } from './run-answer.types.js';

type BinaryContent = Pick<AnsweredTool, 'files' | 'images' | 'images_left_out'>;
type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const EMPTY: RunAnswer = {
  run_id: '',
  session_id: null,
  agent: '',
  status: 'queued',
  result: '',
  iterations: 0,
  duration_ms: 0,
  is_complete: false,
  finish_reason: null,
  usage: NO_USAGE,
  model: '',
  steps: [],
  tool_results: [],
};

const ENDS: Readonly<Record<TerminalEvent['type'], RunStatus>> = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

/** Folds run events into an answer; after each event it is the current answer. */
export class RunAnswerFold {
  private readonly answer: RunAnswer = { ...EMPTY };
  private startedAt = 0;
  private readonly thoughts = new Map<number, string>();
  private readonly messages: Event<'message.completed'>[] = [];
  private readonly results = new Map<string, AnsweredTool>();
  /** Arguments of started calls; may differ from the model's after an edit. */
  private readonly made = new Map<string, string>();
  private readonly children = new Set<string>();
  private readonly nodes = new Map<string, AnsweredNode>();

  apply({ event, at }: RunItem): void {
    if (isLive(event)) return;
    if ('child_run_id' in event && event.child_run_id !== undefined) this.children.add(event.child_run_id);
    switch (event.type) {
      case 'run.started':
        this.startedAt = at;
        this.set({ run_id: event.run_id, session_id: event.session_id, agent: event.agent, status: 'running' });
        break;
      case 'run.resumed':
        this.set({ status: 'running' });
        break;
      case 'run.waiting':
        this.set({ status: 'waiting', duration_ms: at - this.startedAt, waiting: [...event.requests] });
        break;
      case 'run.completed':
      case 'run.failed':
      case 'run.cancelled':
        this.end(event, at);
        break;
      case 'thought':
        this.thoughts.set(event.iteration, event.text);
        break;
      case 'message.completed':
        this.messages.push(event);
        this.set({ iterations: event.iteration });
        break;
      case 'tool.completed':
        this.results.set(`${event.iteration}:${event.call_id}`, toAnsweredTool(event));
        break;
      case 'usage':
        this.count(event);
        break;
      case 'tool.started':
        this.made.set(`${event.iteration}:${event.call_id}`, event.arguments);
        break;
      case 'node.started':
      case 'node.completed':
        this.nodes.set(event.node, { ...this.nodes.get(event.node), ...toAnsweredNode(event) });
        break;
      case 'policy.decided':
        this.set({ status: 'queued' });
        break;
      case 'context.compacted':
      case 'history.repaired':
      case 'model.switched':
      case 'model.cached':
      case 'state.changed':
        break;
    }
  }

  /** The current answer. */
  toAnswer(): RunAnswer {
    const called = this.messages.flatMap(({ iteration, tool_calls }) =>
      tool_calls.flatMap(({ id }) => this.results.get(`${iteration}:${id}`) ?? []),
    );
    // Without a model, or in a workflow, no message lists the calls.
    const isAgentRun = this.messages.length > 0 && this.nodes.size === 0;
    const tools = isAgentRun ? called : [...this.results].map(([place, result]) => this.ofNode(place, result));
    const { waiting, ...answer } = this.answer;
    const steps = this.messages.flatMap((message) => this.steps(message));
    const child_run_ids = [...this.children];
    return {
      ...answer,
      steps,
      tool_results: tools,
      ...(this.nodes.size > 0 && { nodes: [...this.nodes.values()] }),
      ...(child_run_ids.length > 0 && { child_run_ids }),
      ...(answer.status === 'waiting' && waiting && { waiting }),
    };
  }

  /** Adds the node that made the call; a retry's id is the node's with `~<n>`. */
  private ofNode(place: string, result: AnsweredTool): AnsweredTool {
    const node = place.slice(place.indexOf(':') + 1).replace(/~\d+$/, '');
    return this.nodes.has(node) ? { ...result, node } : result;
  }

  private set(change: Partial<RunAnswer>): void {
    Object.assign(this.answer, change);
  }

  /** Adds usage; a model that a tool called does not become the answer's model. */
  private count(event: Event<'usage'>): void {
    const usage = addUsage(this.answer.usage, event);
    this.set({ usage, ...(event.call_id === undefined && { model: event.model }) });
  }

  private end(event: TerminalEvent, at: number): void {
    const { run_id, result, iterations, is_complete, finish_reason, usage, model } = event;
    const { children_usage, answered_by, memory_state } = event;
    const duration_ms = this.startedAt === 0 ? 0 : at - this.startedAt;
    const status = ENDS[event.type];
    this.set({ run_id, status, result, iterations, duration_ms, is_complete, finish_reason, usage, model });
    if ('output' in event) this.set({ output: event.output });
    if (children_usage) this.set({ children_usage });
    if (answered_by) this.set({ answered_by });
    if (memory_state) this.set({ memory_state });
    if (event.type === 'run.failed') this.set({ error: event.error });
  }

  private steps({ iteration, text, tool_calls }: Event<'message.completed'>): AgentStep[] {
    const thought = this.thoughts.get(iteration) ?? (tool_calls.length > 0 ? text : '');
    if (tool_calls.length === 0)
      return [{ iteration, thought, action: 'finish', action_input: null, is_finished: true }];
    return tool_calls.map((call) => ({
      iteration,
      thought,
      action: call.name,
      action_input: toActionInput(this.made.get(`${iteration}:${call.id}`) ?? call.arguments),
      is_finished: false,
    }));
  }
}

/** The fields of a result for its files and images, if it has any. */
export function shownIn({ files, images, images_left_out }: Partial<Event<'tool.completed'>>): BinaryContent {
  return {
    ...(files && { files: [...files] }),
    ...(images && { images: [...images] }),
    ...(images_left_out !== undefined && { images_left_out }),
  };
}

function toAnsweredTool(event: Event<'tool.completed'>): AnsweredTool {
  const { tool, success, result, error, execution_time_ms, child_run_id } = event;
  const child = child_run_id !== undefined && { child_run_id };
  return { tool, success, ...(success ? { result, ...shownIn(event) } : { error }), execution_time_ms, ...child };
}

function toAnsweredNode(event: Event<'node.started' | 'node.completed'>): AnsweredNode {
  const { node, kind } = event;
  if (event.type === 'node.started') {
    const { child_run_id } = event;
    return { node, kind, status: 'running', ...(child_run_id !== undefined && { child_run_id }) };
  }
  const { status, output, error, next } = event;
  const gave = output !== undefined && { output };
  return { node, kind, status, ...gave, ...(error && { error }), ...(next && { next: [...next] }) };
}

/** The arguments as a value; the original text if they are not JSON. */
function toActionInput(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}
