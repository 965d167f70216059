import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../common/index.js';
import { agentDefinitionSchema, type AgentDefinition, type AgentDefinitionInput } from './agent-definition.schema.js';

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
  private readonly agents = new Map<string, RegisteredAgent>();

  /** @param resolve fills in what depends on the server (the model's name, the protocol): runs must not change with it */
  constructor(private readonly resolve: (definition: AgentDefinition) => AgentDefinition) {}

  /** @throws AppError `AGENT_INVALID` naming every field that is wrong, or when the name is taken */
  register(input: AgentDefinitionInput): RegisteredAgent {
    const parsed = parse(input);
    if (this.agents.has(parsed.name)) {
      throw new AppError('AGENT_INVALID', `There are two agents named "${parsed.name}"; rename one.`);
    }
    const agent = this.complete(parsed);
    this.agents.set(parsed.name, agent);
    return agent;
  }

  /** An agent that is not one of these: it is asked once, or in a fork. @throws AppError as `register` */
  define(input: AgentDefinitionInput): RegisteredAgent {
    return this.complete(parse(input));
  }

  list(): readonly AgentDefinition[] {
    return [...this.agents.values()].map(({ definition }) => definition);
  }

  /** Of the definitions that runs may be begun with at any time. */
  hashes(): ReadonlySet<string> {
    return new Set([...this.agents.values()].map(({ hash }) => hash));
  }

  /** @param name the default agent when left out. @throws AppError `AGENT_NOT_FOUND` naming those there are */
  get(name?: string): RegisteredAgent {
    const agent = name === undefined ? this.agents.values().next().value : this.agents.get(name);
    if (agent) return agent;
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
