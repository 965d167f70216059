import { Injectable } from '@nestjs/common';
import type { Extension, ExtensionHost, OwnEventListener } from '../agent/index.js';
import { AgentRegistry } from '../agent/definition/index.js';
import { ModelRegistry } from '../llm/index.js';
import { ReasoningEngine, toPlace } from '../reasoning/index.js';
import { MemoryPolicyRegistry } from '../session/memory/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ToolPolicyRegistry } from '../tool/decision/index.js';
import { OwnEventRegistry } from './events/own-event.registry.js';
import { titleOf } from './extension-order.policy.js';

/** A host whose registrations can be revoked. */
export interface RevocableHost {
  readonly host: ExtensionHost;
  /** Names of the registered agents. */
  readonly agents: readonly string[];
  /** Removes its tools, agents and listeners; other registrations stay until the application ends. */
  revoke(): void;
}

type LastingHost = Pick<
  ExtensionHost,
  'registerToolPolicy' | 'registerProcessor' | 'registerMemoryPolicy' | 'registerModelFactory'
>;

/** Creates the part of the API whose registrations stay until the application ends. */
@Injectable()
export class LastingHostFactory {
  constructor(
    private readonly toolPolicies: ToolPolicyRegistry,
    private readonly engine: ReasoningEngine,
    private readonly memoryPolicies: MemoryPolicyRegistry,
    private readonly models: ModelRegistry,
  ) {}

  create(): LastingHost {
    return {
      registerToolPolicy: (policy) => this.toolPolicies.register(policy),
      registerProcessor: (processor, place) => this.engine.place({ processor, ...toPlace(place) }),
      registerMemoryPolicy: (policy) => this.memoryPolicies.register(policy),
      registerModelFactory: (factory) => this.models.register(factory),
    };
  }
}

/** Creates the API through which an extension registers; it delegates to the registries. */
@Injectable()
export class ExtensionHostFactory {
  constructor(
    private readonly lasting: LastingHostFactory,
    private readonly tools: ToolRegistry,
    private readonly agents: AgentRegistry,
    private readonly events: OwnEventRegistry,
  ) {}

  create(extension: Extension): RevocableHost {
    const title = titleOf(extension);
    const agents: string[] = [];
    const undo: (() => unknown)[] = [];
    const host: ExtensionHost = {
      ...this.lasting.create(),
      registerTool: (tool) => {
        this.tools.register(tool);
        const { name } = 'definition' in tool ? tool.definition : tool;
        undo.push(() => this.tools.unregister(name));
      },
      registerAgent: (definition) => {
        this.agents.register(definition, `the ${title}`);
        agents.push(definition.name);
        undo.push(() => this.agents.unregister(definition.name));
      },
      on: (event: string, listener: OwnEventListener<never>) => {
        const end = this.events.register(`The ${title}`, event, listener as OwnEventListener);
        undo.push(end);
        return end;
      },
      dispatch: (event, data) => this.events.dispatch(event, data),
    };
    const revoke = () => {
      for (const one of undo.toReversed()) one();
    };
    return { host, agents, revoke };
  }
}
