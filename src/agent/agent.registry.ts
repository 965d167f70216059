import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError, ChangeListeners } from '../common/index.js';
import type { Tool } from '../tool/index.js';
import { agentDefinitionSchema, type AgentDefinition, type AgentDefinitionInput } from './agent-definition.schema.js';
import { askTool, type SubAgentToolOptions } from './sub-agent/sub-agent-tool.factory.js';

/** A definition with its stored form. */
export interface RegisteredAgent {
  readonly definition: AgentDefinition;
  /** JSON text, the same for the same definition. */
  readonly content: string;
  /** SHA-256 of the content, in hex. */
  readonly hash: string;
}

/** Every agent by its name. The first one registered answers when a request names none. */
export class AgentRegistry {
  private readonly agents = new Map<string, () => RegisteredAgent>();
  /** Hear that an agent came or went. */
  readonly changes = new ChangeListeners();

  /** @param resolve fills in what depends on the server (the model's name, the protocol): runs must not change with it */
  constructor(private readonly resolve: (definition: AgentDefinition) => AgentDefinition) {}

  /**
   * What depends on the server is filled in when the agent is first looked at, at the latest when the application has
   * begun: until then, extensions may bring the provider of its model.
   * @throws AppError `AGENT_INVALID` naming every field that is wrong, or when the name is taken
   */
  register(input: AgentDefinitionInput): void {
    const parsed = parse(input);
    if (this.agents.has(parsed.name)) {
      throw new AppError('AGENT_INVALID', `There are two agents named "${parsed.name}"; rename one.`);
    }
    let agent: RegisteredAgent | undefined;
    this.agents.set(parsed.name, () => (agent ??= this.complete(parsed)));
    this.changes.tell();
  }

  /** Takes an agent away. @returns whether there was one; its runs go on */
  unregister(name: string): boolean {
    const wasThere = this.agents.delete(name);
    if (wasThere) this.changes.tell();
    return wasThere;
  }

  /** An agent that is not one of these: it is asked once, or in a fork. @throws AppError as `register` */
  define(input: AgentDefinitionInput): RegisteredAgent {
    return this.complete(parse(input));
  }

  names(): readonly string[] {
    return [...this.agents.keys()];
  }

  /**
   * An agent as a tool, to be registered: whoever has it may ask the agent, whose run is then one of its own.
   * @throws AppError `AGENT_NOT_FOUND`
   */
  asTool(name: string, options: SubAgentToolOptions = {}): Tool {
    return askTool(this.get(name).definition, options);
  }

  list(): readonly AgentDefinition[] {
    return [...this.agents.values()].map((agent) => agent().definition);
  }

  /** Of the definitions that runs may be begun with at any time. */
  hashes(): ReadonlySet<string> {
    return new Set([...this.agents.values()].map((agent) => agent().hash));
  }

  /** @param name the default agent when left out. @throws AppError `AGENT_NOT_FOUND` naming those there are */
  get(name?: string): RegisteredAgent {
    const agent = name === undefined ? this.agents.values().next().value : this.agents.get(name);
    if (agent) return agent();
    const known = [...this.agents.keys()].join(', ') || 'none';
    throw new AppError('AGENT_NOT_FOUND', `There is no agent "${name ?? 'default'}"; there is: ${known}.`);
  }

  private complete(parsed: AgentDefinition): RegisteredAgent {
    const definition = this.resolve(parsed);
    const content = JSON.stringify(definition);
    return { definition, content, hash: createHash('sha256').update(content).digest('hex') };
  }
}

function parse(input: AgentDefinitionInput): AgentDefinition {
  const parsed = agentDefinitionSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new AppError(
    'AGENT_INVALID',
    `The definition of agent "${input.name}" is wrong:\n${z.prettifyError(parsed.error)}`,
  );
}
