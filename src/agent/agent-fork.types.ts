import type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';

/** What a fork's agent has otherwise than that of the run; everything else stays. */
export interface AgentChanges {
  readonly instructions?: string;
  /** Of the tools that the agent has; more it cannot be given. */
  readonly tools?: AgentDefinition['tools'];
  readonly memory?: AgentDefinitionInput['memory'];
  readonly limits?: AgentDefinitionInput['limits'];
}

/** What is otherwise in the new run. */
export interface ForkEdit {
  /** What the user says; only from the first step. */
  readonly message?: string;
  /** Who answers what the new run asks. */
  readonly model?: Partial<AgentDefinitionInput['model']>;
  /** What the call of the step came to, any JSON value; only from a step of a tool. */
  readonly toolResult?: unknown;
  /** Another agent by its name, or changes of the run's own. */
  readonly agent?: string | AgentChanges;
}

export interface ForkRequest {
  /** The step at which the new run begins to live; what comes before it is copied. */
  readonly fromStep: string;
  /** A session that is not there yet; a new id when left out. */
  readonly sessionId?: string;
  readonly edit?: ForkEdit;
}
