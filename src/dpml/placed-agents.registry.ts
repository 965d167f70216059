import { type AgentDefinitionInput, AgentRegistry, type DeclaredAgent } from '../agent/index.js';
import { canonicalJson } from '../common/index.js';
import type { AgentSet, FileAgent } from './agent-set.types.js';

/** What has become of an agent. */
export interface AgentChange {
  readonly kind: 'added' | 'changed' | 'removed';
  readonly name: string;
}

/** The agents of files among those of the application. */
export class PlacedAgents {
  private placed: ReadonlyMap<string, FileAgent> = new Map();
  /** Those whose place an agent of a file has taken, by their names. */
  private readonly displaced = new Map<string, DeclaredAgent>();

  constructor(private readonly registry: AgentRegistry) {}

  /** The names of the agents that are in no file. */
  namesInCode(): string[] {
    return this.registry.names().filter((name) => this.displaced.has(name) || !this.placed.has(name));
  }

  /** An agent that is in no file. */
  declaredInCode(name: string): DeclaredAgent | undefined {
    return this.displaced.get(name) ?? (this.placed.has(name) ? undefined : this.registry.declared(name));
  }

  /**
   * Makes these the agents of files, at once for whoever looks: nothing is awaited. One that was there keeps its place, also when
   * another file has it now; one that is gone leaves its place to the agent whose it was.
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

  /** Code may have taken an agent away. */
  private set(input: AgentDefinitionInput, source: string): void {
    if (this.registry.declared(input.name)) this.registry.replace(input, source);
    else this.registry.register(input, source);
  }
}
