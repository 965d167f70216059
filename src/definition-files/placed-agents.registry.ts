import {
  type AgentDefinitionInput,
  type AgentFault,
  AgentRegistry,
  type DeclaredAgent,
} from '../agent/definition/index.js';
import { canonicalJson } from '../kernel/json/index.js';

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

/** A change of a registered agent. */
export interface AgentChange {
  readonly kind: 'added' | 'changed' | 'removed';
  readonly name: string;
}

/** Registers the agents of files in the agent registry. */
export class PlacedAgents {
  private placed: ReadonlyMap<string, FileAgent> = new Map();
  /** Agents replaced by an agent of a file, by name. */
  private readonly displaced = new Map<string, DeclaredAgent>();

  constructor(private readonly registry: AgentRegistry) {}

  /** Names of the agents that are not defined in files. */
  namesInCode(): string[] {
    return this.registry.names().filter((name) => this.displaced.has(name) || !this.placed.has(name));
  }

  /** The agent of this name that is not defined in a file. */
  declaredInCode(name: string): DeclaredAgent | undefined {
    return this.displaced.get(name) ?? (this.placed.has(name) ? undefined : this.registry.declared(name));
  }

  /**
   * Replaces the agents of files, synchronously, so that readers see no intermediate state. An unchanged agent stays
   * registered, also if another file defines it now. A removed agent restores the one that it had replaced.
   */
  place(agents: AgentSet['agents']): AgentChange[] {
    const next = new Map([...agents.values()].map((agent) => [agent.name, agent]));
    const gone = [...this.placed.keys()].filter((name) => !next.has(name));
    const changes = [
      ...gone.map((name) => this.remove(name)),
      ...[...next.values()].flatMap((agent) => this.put(agent)),
    ];
    this.placed = next;
    return changes;
  }

  private remove(name: string): AgentChange {
    const before = this.displaced.get(name);
    if (before) this.set(before.definition, before.source);
    else this.registry.unregister(name);
    this.displaced.delete(name);
    return { kind: 'removed', name };
  }

  private put({ name, input, place }: FileAgent): AgentChange[] {
    const before = this.placed.get(name);
    if (before && canonicalJson(before.input) === canonicalJson(input)) return [];
    const displaced = before ? undefined : this.registry.declared(name);
    if (displaced) this.displaced.set(name, displaced);
    this.set(input, place);
    return [{ kind: before ? 'changed' : 'added', name }];
  }

  /** Application code may have unregistered the agent. */
  private set(input: AgentDefinitionInput, source: string): void {
    if (this.registry.declared(input.name)) this.registry.replace(input, source);
    else this.registry.register(input, source);
  }
}
