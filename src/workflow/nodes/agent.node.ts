import type { AgentDefinitionInput } from '../../agent/definition/index.js';
import type { NodeInput } from '../definition/node.schema.js';
import { AnsweredNode } from './workflow.node.js';

type AgentInput = Extract<NodeInput, { type: 'agent' }>;

/** Inline agent of a node; omitted model settings are the server's own. */
export type NodeAgent = Omit<AgentDefinitionInput, 'name' | 'model'> & Partial<Pick<AgentDefinitionInput, 'model'>>;

/** Asks an agent in a child run; outputs `response`, `model`, `usage`, `memory_state`, and `output` with a format. */
export class AgentNode<const Id extends string> extends AnsweredNode<Id, AgentInput> {
  /**
   * @param agent name of a registered agent, or an inline definition
   * @param message may contain placeholders; default: the input's `message` or `query`
   */
  constructor(id: Id, agent: string | NodeAgent, message?: string) {
    super(id, { type: 'agent', agent: toAgent(agent), ...(message !== undefined && { message }) });
  }

  setMessage(message: string): this {
    return this.with({ message });
  }

  /** Memory rules for earlier questions in the session of the workflow's run. Only for an inline agent. */
  setMemory(memory: NonNullable<NodeAgent['memory']>): this {
    return this.with({ agent: { ...this.own('setMemory'), memory } });
  }

  /** Tool names, with `*` for any characters. Only for an inline agent. */
  setTools(tools: NonNullable<NodeAgent['tools']>): this {
    return this.with({ agent: { ...this.own('setTools'), tools } });
  }

  private own(method: string): { readonly [field: string]: unknown } {
    const { agent } = this.definition;
    if (typeof agent === 'object') return agent;
    throw new TypeError(
      `${method}: node "${this.id}" calls the registered agent "${agent}", whose definition a node cannot change.`,
    );
  }
}

function toAgent(agent: string | NodeAgent): AgentInput['agent'] {
  return typeof agent === 'string' ? agent : { ...agent };
}
