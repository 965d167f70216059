import { Injectable } from '@nestjs/common';
import { AGENT_RUN, type SubAgentQuestion } from '../../agent/index.js';
import type { AgentDefinitionInput } from '../../agent/definition/index.js';
import { newId } from '../../kernel/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import type { ParameterName } from '../../llm/chat/index.js';
import { NO_USAGE, type NodeKind, type RunUsage } from '../../run/event/index.js';
import { factsOfEnd } from '../../run/facts/index.js';
import type { ChildStatus } from '../../run/tree/index.js';
import { addUsage } from '../../run/usage/index.js';
import { answeredNode, failedNode, type NodeAnswer, thrownNode, withFacts } from './node-outcome.factory.js';
import type { NodeOutcome, NodeTask } from './node-task.types.js';

type Ended = Extract<ChildStatus, { kind: 'ended' }>;

/** A question to an agent in a child run. */
export interface AgentRequest extends Omit<NodeAnswer, 'finish_reason'> {
  readonly name: string;
  readonly query: string;
  /** Definition of an agent that is not registered. */
  readonly definition?: AgentDefinitionInput;
  /** Whether followers receive message deltas. */
  readonly isStreaming: boolean;
  /** Parameters of the definition that no user set. */
  readonly optionalParameters?: readonly ParameterName[];
}

/** Asks agents in child runs of a workflow run. */
@Injectable()
export class ChildAgentExecutor {
  /** Records the child run's id before the start: after a crash, the next execution joins that run. */
  async ask(called: AgentRequest, task: NodeTask, kind: NodeKind = 'llm'): Promise<NodeOutcome> {
    const { run, node, path, number, signal } = task;
    const { name, isStreaming, query, definition, optionalParameters } = called;
    const id = await run.step({ kind: 'child', place: `${number}/${path}`, subject: name }, async () => {
      const child_run_id = newId();
      run.emit({ type: 'node.started', node, kind, iteration: number, child_run_id });
      return child_run_id;
    });
    const input: SubAgentQuestion = {
      query,
      isStreaming,
      ...(definition && { definition }),
      ...(optionalParameters && { optionalParameters }),
    };
    const { facts, hasOwnSession: isSeparate } = task;
    const request = async () => ({ kind: AGENT_RUN, name, input, isHandoff: false, facts, isSeparate });
    const joined = await run.join({ id, step: `node:${path}`, request, signal });
    if (joined.kind === 'ended') return toOutcome(joined, called, task);
    // The child run is cancelled at the end of the workflow.
    if (joined.outage && task.hasFallback) return thrownNode(joined.outage);
    if (joined.outage) return { status: 'waiting', requests: [], outage: joined.outage };
    const wanted = joined.requests.map(({ kind: what, tool }) => `${what} (${tool})`).join(', ');
    return {
      status: 'waiting',
      requests: [
        {
          id: `child:${number}/${path}`,
          kind: 'child',
          step: `node:${path}`,
          call_id: path,
          tool: name,
          arguments: JSON.stringify({ query }),
          reason: `Run "${id}" waits for ${wanted}: decide there.`,
          child_run_id: id,
          expires_at: null,
        },
      ],
    };
  }
}

function toOutcome({ end, agent }: Ended, called: AgentRequest, task: NodeTask): NodeOutcome {
  const facts = withFacts(factsOfEnd(end));
  const children_usage: RunUsage = addUsage(end.usage, end.children_usage ?? NO_USAGE);
  switch (end.type) {
    case 'run.cancelled':
      return failedNode('RUN_CANCELLED', `The agent "${agent}" was cancelled before its answer.`, { children_usage });
    case 'run.failed':
      return { status: 'failed', error: end.error, children_usage, ...facts };
    case 'run.completed': {
      const { run_id, result, model, usage, memory_state, finish_reason, is_complete } = end;
      const output: JsonValue = {
        response: result,
        ...('output' in end && { output: end.output as JsonValue }),
        model,
        usage: { ...usage },
        memory_state: memory_state ? ({ ...memory_state } as unknown as JsonValue) : null,
        finish_reason,
        is_complete,
        run_id,
      };
      return answeredNode(
        { ...called, finish_reason },
        { status: 'completed', output, children_usage, ...facts },
        task,
      );
    }
  }
}
