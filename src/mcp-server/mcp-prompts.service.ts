import { Injectable } from '@nestjs/common';
import type { Prompt } from '@modelcontextprotocol/server';
import { AgentRegistry, type AgentDefinition } from '../agent/definition/index.js';
import { AppError } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { hasScope } from '../security/index.js';
import type { McpCall, McpPromptAnswer } from './mcp-call.types.js';
import { McpPrompts, toMcpPrompt, type McpPrompt } from './mcp-prompt.registry.js';
import { toWireRequests } from './wire-request.mapper.js';

/** The application's prompts, and one for each agent. */
@Injectable()
export class McpPromptService {
  constructor(
    private readonly own: McpPrompts,
    private readonly agents: AgentRegistry,
  ) {}

  list(principal: Principal): Prompt[] {
    const own = this.own.list();
    const ownNames = new Set(own.map(({ name }) => name));
    const agents = hasScope(principal, 'chat') ? this.agents.list() : [];
    const ofAgents = agents.map((agent) => toAgentPrompt(agent, this.agents.toolOf(agent.name)));
    return [...own, ...ofAgents.filter(({ name }) => !ownNames.has(name))].map(toMcpPrompt);
  }

  /** @throws AppError `NOT_FOUND`; `VALIDATION_FAILED` for a missing argument */
  async get(call: McpCall, name: string, args: Readonly<Record<string, string>>): Promise<McpPromptAnswer> {
    const { principal, inputs } = call;
    const prompt = this.find(principal, name);
    const missing = (prompt.arguments ?? []).filter((one) => one.required && args[one.name] === undefined);
    if (missing.length > 0) {
      const names = missing.map((one) => `"${one.name}"`).join(', ');
      throw new AppError('VALIDATION_FAILED', `The prompt "${name}" requires the argument ${names}.`);
    }
    const text = await prompt.get(args, { principal, inputs });
    if ('ask' in text) return { resultType: 'input_required', inputRequests: toWireRequests(text.ask) };
    return { description: prompt.description, messages: [...text] };
  }

  /** Possible values of an argument. @throws AppError `NOT_FOUND` */
  async complete(principal: Principal, name: string, argument: string, typed: string): Promise<readonly string[]> {
    return (await this.find(principal, name).complete?.(argument, typed, principal)) ?? [];
  }

  private find(principal: Principal, name: string): McpPrompt {
    const agent = hasScope(principal, 'chat') ? this.agents.askedBy(name) : undefined;
    const own = this.own.get(name);
    const prompt = own ?? (agent === undefined ? undefined : toAgentPrompt(this.agents.get(agent).definition, name));
    if (!prompt) throw new AppError('NOT_FOUND', `There is no prompt "${name}".`);
    return prompt;
  }
}

/** A prompt that makes the client's model call an agent. */
function toAgentPrompt({ name, description }: AgentDefinition, tool: string): McpPrompt {
  const who = `the agent "${name}"${description === '' ? '' : ` (${description})`}`;
  return {
    name: tool,
    title: `Ask ${name}`,
    description: `Calls ${who} with the tool ${tool}.`,
    arguments: [{ name: 'message', description: 'The message to the agent.', required: true }],
    get({ message = '' }) {
      const words = `Call ${who} with the tool ${tool} and this message, and return its answer:\n\n${message}`;
      return [{ role: 'user', content: { type: 'text', text: words } }];
    },
  };
}
