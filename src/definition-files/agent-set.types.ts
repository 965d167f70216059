import type { AgentDefinitionInput, AgentFault, DeclaredAgent } from '../agent/index.js';

/** An agent defined in a file, after inheritance. */
export interface FileAgent {
  readonly name: string;
  readonly input: AgentDefinitionInput;
  /** Position of its name: `file:line:column`. */
  readonly place: string;
}

/** Agents and mistakes of a folder's files. */
export interface AgentSet {
  /** By file name; an invalid file retains its former agent, if any. */
  readonly agents: ReadonlyMap<string, FileAgent>;
  /** By file name, one per line. */
  readonly mistakes: ReadonlyMap<string, readonly string[]>;
}

/** Context for the files: agents and targets outside of them. */
export interface AgentWorld {
  /** Names of the agents that are not defined in files. */
  readonly names: readonly string[];
  /** The agent of this name that is not defined in a file. */
  declared(name: string): DeclaredAgent | undefined;
  /** Whether a file may replace an existing agent. */
  mayReplace(agent: DeclaredAgent): boolean;
  /** Missing targets of an agent. @param names of all agents */
  faults(input: AgentDefinitionInput, names: readonly string[]): readonly AgentFault[];
}
