import type { RunEvent } from '../../run/event/index.js';
import type { AgUiEvent } from './ag-ui-event.types.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** The runs of other agents that calls of a run start. Clients before 1.0 do not know their events. */
export class SubAgentBuilder {
  private readonly open = new Set<string>();
  private readonly seen = new Set<string>();

  constructor(private readonly isKnown: boolean) {}

  started({ child_run_id: id, tool: name }: Event<'tool.started'>, callId: string): AgUiEvent[] {
    if (id === undefined || this.seen.has(id)) return [];
    if (!this.isKnown) return [{ type: 'CUSTOM', name: 'jackdaw.child_run', value: { run_id: id, tool: name } }];
    this.seen.add(id);
    this.open.add(id);
    return [{ type: 'SUBAGENT_STARTED', subagentRunId: id, name, parentToolCallId: callId }];
  }

  completed({ child_run_id: id, success, error = '', code }: Event<'tool.completed'>): AgUiEvent[] {
    if (id === undefined || !this.open.delete(id)) return [];
    if (success) return [{ type: 'SUBAGENT_FINISHED', subagentRunId: id, outcome: { type: 'success' } }];
    return [{ type: 'SUBAGENT_ERROR', subagentRunId: id, message: error, ...(code !== undefined && { code }) }];
  }

  /** Ends those that a run leaves open. */
  end(type: 'success' | 'suspended'): AgUiEvent[] {
    const ids = [...this.open];
    this.open.clear();
    return ids.map((subagentRunId) => {
      if (type === 'suspended') return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type } };
      return { type: 'SUBAGENT_ERROR', subagentRunId, message: 'The run ended before this agent had answered.' };
    });
  }
}
