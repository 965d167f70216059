import type { AgentDefinitionInput } from '../../agent/index.js';
import type { NodeInput } from '../definition/node.schema.js';
import { AnsweredNode } from './workflow.node.js';

type AgentInput = Extract<NodeInput, { type: 'agent' }>;

/** An agent of a node's own: of its model, what is left out is as the server's. */
export type NodeAgent = Omit<AgentDefinitionInput, 'name' | 'model'> & Partial<Pick<AgentDefinitionInput, 'model'>>;

/** Asks an agent, in a run of its own: gives `response`, `model`, `usage`, `memory_state`, and `output` where it has a format. */
export class AgentNode<const Id extends string> extends AnsweredNode<Id, AgentInput> {
  /**
   * @param agent the name of one that there is, or what it is
   * @param message with places; the input's `message` or `query` when left out
   */
  constructor(id: Id, agent: string | NodeAgent, message?: string) {
    super(id, { type: 'agent', agent: toAgent(agent), ...(message !== undefined && { message }) });
  }

  setMessage(message: string): this {
    return this.with({ message });
  }

  /** What it sees of what it was asked before, in the session of the workflow's run. Only of an agent of the node's own. */
  setMemory(memory: NonNullable<NodeAgent['memory']>): this {
    return this.with({ agent: { ...this.own('setMemory'), memory } });
  }

  /** Names of tools, with `*` for any characters. Only of an agent of the node's own. */
  setTools(tools: NonNullable<NodeAgent['tools']>): this {
    return this.with({ agent: { ...this.own('setTools'), tools } });
  }

  private own(method: string): { readonly [field: string]: unknown } {
    const { agent } = this.definition;
    if (typeof agent === 'object') return agent;
    throw new TypeError(`${method}: node "${this.id}" asks the agent "${agent}", who is what it is.`);
  }
}

function toAgent(agent: string | NodeAgent): AgentInput['agent'] {
  return typeof agent === 'string' ? agent : { ...agent };
}
