import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../errors/index.js';
import { ChangeListeners, issueMistakes } from '../../kernel/index.js';
import type { Tool } from '../../tool/method/index.js';
import {
  agentDefinitionSchema,
  withTools,
  type AgentDefinition,
  type AgentDefinitionInput,
  type Parsed,
} from './agent-definition.schema.js';
import { askName, askTool, transferName, type SubAgentToolOptions } from '../sub-agent/sub-agent-tool.factory.js';

/** A definition with its stored form. */
export interface RegisteredAgent {
  readonly definition: AgentDefinition;
  /** JSON text; equal for equal definitions. */
  readonly content: string;
  /** SHA-256 of the content, in hex. */
  readonly hash: string;
}

/** An unresolved definition and its source. */
export interface DeclaredAgent {
  readonly definition: Parsed;
  /** For messages: a place in code, or the path of a file. */
  readonly source: string;
}

interface Entry {
  readonly declared: DeclaredAgent;
  readonly complete: () => RegisteredAgent;
}

const IN_CODE = 'code';

/** All agents, by name. The first registered agent is the default. */
export class AgentRegistry {
  private readonly agents = new Map<string, Entry>();
  /** Listeners for added, replaced and removed agents. */
  readonly changes = new ChangeListeners();

  /**
   * @param resolve fills in values that depend on the server (model name, protocol), so that later changes do not
   *   affect runs
   */
  constructor(private readonly resolve: (definition: AgentDefinition) => AgentDefinition) {}

  /**
   * Registers an agent. Server-dependent values are resolved at first use, at the latest at the end of the boot.
   * Until then, an extension may register the model's provider.
   * @param source the origin, for messages
   * @throws AppError `AGENT_INVALID` naming every invalid field, or both sources of a duplicate name
   */
  register(input: AgentDefinitionInput, source = IN_CODE): void {
    const definition = parse(input);
    const other = this.agents.get(definition.name)?.declared.source;
    if (other !== undefined) {
      const places = other === source ? '' : ` (${other}, and ${source})`;
      throw new AppError('AGENT_INVALID', `There are two agents named "${definition.name}"${places}; rename one.`);
    }
    this.assertOwnTools(definition.name, source);
    this.set({ definition, source });
  }

  /** Name of the tool that asks an agent. */
  toolOf(name: string): string {
    return askName(name);
  }

  /** The agent that a tool of this name asks. */
  askedBy(tool: string): string | undefined {
    return this.names().find((name) => askName(name) === tool);
  }

  /** Names with other letters than a tool's are mapped, so that two agents could have one tool. */
  private assertOwnTools(name: string, source: string): void {
    for (const [other, { declared }] of this.agents) {
      const tool = [askName, transferName].find((nameOf) => nameOf(other) === nameOf(name))?.(name);
      if (tool === undefined) continue;
      const both = `"${other}" (${declared.source}) and "${name}" (${source})`;
      throw new AppError('AGENT_INVALID', `The agents ${both} would have one tool "${tool}"; rename one.`);
    }
  }

  /**
   * Replaces an agent's definition; its position in the list stays the same. Started runs continue with their former
   * definition.
   * @throws AppError `AGENT_INVALID` as `register`, `AGENT_NOT_FOUND`
   */
  replace(input: AgentDefinitionInput, source = IN_CODE): void {
    const definition = parse(input);
    if (!this.agents.has(definition.name)) throw unknownAgent(definition.name, this.names());
    this.set({ definition, source });
  }

  /** Removes an agent; its runs continue. @returns whether it existed */
  unregister(name: string): boolean {
    const wasThere = this.agents.delete(name);
    if (wasThere) this.changes.notify();
    return wasThere;
  }

  /** Resolves a definition without registering it, for one question or a fork. @throws AppError as `register` */
  define(input: AgentDefinitionInput | AgentDefinition): RegisteredAgent {
    // A resolved definition selects its skills anew.
    const { offeredSkills: _offered, ...given } = input as AgentDefinition;
    return this.complete(parse(given));
  }

  /** Resolves all definitions again at their next use, because the skills have changed. */
  refresh(): void {
    for (const [name, { declared }] of this.agents) this.agents.set(name, this.entryOf(declared));
    this.changes.notify();
  }

  names(): readonly string[] {
    return [...this.agents.keys()];
  }

  /** The unresolved definition of an agent. */
  declared(name: string): DeclaredAgent | undefined {
    return this.agents.get(name)?.declared;
  }

  /**
   * Returns a tool that asks the agent in a child run.
   * @throws AppError `AGENT_NOT_FOUND`
   */
  asTool(name: string, options: SubAgentToolOptions = {}): Tool {
    return askTool(this.get(name).definition, options);
  }

  list(): readonly AgentDefinition[] {
    return [...this.agents.values()].map(({ complete }) => complete().definition);
  }

  /** Hashes of the definitions that new runs can use. */
  hashes(): ReadonlySet<string> {
    return new Set([...this.agents.values()].map(({ complete }) => complete().hash));
  }

  /** @param name default: the default agent. @throws AppError `AGENT_NOT_FOUND` naming the known agents */
  get(name?: string): RegisteredAgent {
    const agent = name === undefined ? this.agents.values().next().value : this.agents.get(name);
    if (agent) return agent.complete();
    throw unknownAgent(name ?? 'default', this.names());
  }

  private set(declared: DeclaredAgent): void {
    this.agents.set(declared.definition.name, this.entryOf(declared));
    this.changes.notify();
  }

  private entryOf(declared: DeclaredAgent): Entry {
    let agent: RegisteredAgent | undefined;
    return { declared, complete: () => (agent ??= this.complete(declared.definition)) };
  }

  private complete(parsed: Parsed): RegisteredAgent {
    const definition = this.resolve(withTools(parsed));
    const content = JSON.stringify(definition);
    return { definition, content, hash: createHash('sha256').update(content).digest('hex') };
  }
}

/** `AGENT_NOT_FOUND` with the names of the known agents. */
export function unknownAgent(name: string, known: readonly string[]): AppError {
  return new AppError('AGENT_NOT_FOUND', `There is no agent "${name}"; there is: ${known.join(', ') || 'none'}.`);
}

function parse(input: AgentDefinitionInput): Parsed {
  const parsed = agentDefinitionSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new AppError(
    'AGENT_INVALID',
    `The definition of agent "${input.name}" is wrong:\n${z.prettifyError(parsed.error)}`,
    { details: { errors: issueMistakes(parsed.error.issues, input) } },
  );
}
