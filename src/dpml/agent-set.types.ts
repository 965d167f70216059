import type { AgentDefinitionInput, AgentFault, DeclaredAgent } from '../agent/index.js';

/** An agent that a file describes, with all that it inherits. */
export interface FileAgent {
  readonly name: string;
  readonly input: AgentDefinitionInput;
  /** Where it says its name: `file:line:column`. */
  readonly place: string;
}

/** What the files of a folder come to. */
export interface AgentSet {
  /** By the names of the files; of a file with mistakes it is the agent that it had before, if it had one. */
  readonly agents: ReadonlyMap<string, FileAgent>;
  /** By the names of the files, one line each. */
  readonly mistakes: ReadonlyMap<string, readonly string[]>;
}

/** What files may refer to. */
export interface AgentWorld {
  /** The names of the agents that are in no file. */
  readonly names: readonly string[];
  /** Of those, by its name. */
  declared(name: string): DeclaredAgent | undefined;
  /** Whether a file may describe an agent of this name, although there is one. */
  mayReplace(agent: DeclaredAgent): boolean;
  /** What it names that is not there. @param names of all agents */
  faults(input: AgentDefinitionInput, names: readonly string[]): readonly AgentFault[];
}
