import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError, ChangeListeners, issueMistakes } from '../common/index.js';
import type { Tool } from '../tool/index.js';
import {
  agentDefinitionSchema,
  withTools,
  type AgentDefinition,
  type AgentDefinitionInput,
  type Parsed,
} from './agent-definition.schema.js';
import { askTool, type SubAgentToolOptions } from './sub-agent/sub-agent-tool.factory.js';

/** A definition with its stored form. */
export interface RegisteredAgent {
  readonly definition: AgentDefinition;
  /** JSON text, the same for the same definition. */
  readonly content: string;
  /** SHA-256 of the content, in hex. */
  readonly hash: string;
}

/** A definition as it was given, and who has given it. */
export interface DeclaredAgent {
  readonly definition: Parsed;
  /** For people: a place in code, or the path of a file. */
  readonly source: string;
}

interface Entry {
  readonly declared: DeclaredAgent;
  readonly complete: () => RegisteredAgent;
}

const IN_CODE = 'code';

/** Every agent by its name. The first one registered answers when a request names none. */
export class AgentRegistry {
  private readonly agents = new Map<string, Entry>();
  /** Hear that an agent came or went. */
  readonly changes = new ChangeListeners();

  /** @param resolve fills in what depends on the server (the model's name, the protocol): runs must not change with it */
  constructor(private readonly resolve: (definition: AgentDefinition) => AgentDefinition) {}

  /**
   * What depends on the server is filled in when the agent is first looked at, at the latest when the application has
   * begun: until then, extensions may bring the provider of its model.
   * @param source who gives it, for messages
   * @throws AppError `AGENT_INVALID` naming every field that is wrong, or both places when the name is taken
   */
  register(input: AgentDefinitionInput, source = IN_CODE): void {
    const definition = parse(input);
    const other = this.agents.get(definition.name)?.declared.source;
    if (other !== undefined) {
      const places = other === source ? '' : ` (${other}, and ${source})`;
      throw new AppError('AGENT_INVALID', `There are two agents named "${definition.name}"${places}; rename one.`);
    }
    this.set({ definition, source });
  }

  /**
   * Another definition for an agent, which keeps its place among the others. Runs that have begun go on with the one they
   * began with.
   * @throws AppError `AGENT_INVALID` as `register`, `AGENT_NOT_FOUND`
   */
  replace(input: AgentDefinitionInput, source = IN_CODE): void {
    const definition = parse(input);
    if (!this.agents.has(definition.name)) throw unknownAgent(definition.name, this.names());
    this.set({ definition, source });
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

  /** An agent as it was given: without what depends on the server. */
  declared(name: string): DeclaredAgent | undefined {
    return this.agents.get(name)?.declared;
  }

  /**
   * An agent as a tool, to be registered: whoever has it may ask the agent, whose run is then one of its own.
   * @throws AppError `AGENT_NOT_FOUND`
   */
  asTool(name: string, options: SubAgentToolOptions = {}): Tool {
    return askTool(this.get(name).definition, options);
  }

  list(): readonly AgentDefinition[] {
    return [...this.agents.values()].map(({ complete }) => complete().definition);
  }

  /** Of the definitions that runs may be begun with at any time. */
  hashes(): ReadonlySet<string> {
    return new Set([...this.agents.values()].map(({ complete }) => complete().hash));
  }

  /** @param name the default agent when left out. @throws AppError `AGENT_NOT_FOUND` naming those there are */
  get(name?: string): RegisteredAgent {
    const agent = name === undefined ? this.agents.values().next().value : this.agents.get(name);
    if (agent) return agent.complete();
    throw unknownAgent(name ?? 'default', this.names());
  }

  private set(declared: DeclaredAgent): void {
    let agent: RegisteredAgent | undefined;
    const complete = () => (agent ??= this.complete(declared.definition));
    this.agents.set(declared.definition.name, { declared, complete });
    this.changes.tell();
  }

  private complete(parsed: Parsed): RegisteredAgent {
    const definition = this.resolve(withTools(parsed));
    const content = JSON.stringify(definition);
    return { definition, content, hash: createHash('sha256').update(content).digest('hex') };
  }
}

/** `AGENT_NOT_FOUND` with the names of those there are. */
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
