import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AgentRegistry, type Extension, type ExtensionHost, type OwnEventListener } from '../agent/index.js';
import { ModelRegistry } from '../llm/index.js';
import { ReasoningEngine, toPlace } from '../reasoning/index.js';
import { MemoryPolicyRegistry } from '../session/index.js';
import { ToolPolicyRegistry, ToolRegistry } from '../tool/index.js';
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

/** Creates the API through which an extension registers; it delegates to the registries. */
@Injectable()
export class ExtensionHostFactory {
  constructor(private readonly modules: ModuleRef) {}

  create(extension: Extension): RevocableHost {
    const title = titleOf(extension);
    const agents: string[] = [];
    const undo: (() => unknown)[] = [];
    const host: ExtensionHost = {
      registerTool: (tool) => {
        this.get(ToolRegistry).register(tool);
        const { name } = 'definition' in tool ? tool.definition : tool;
        undo.push(() => this.get(ToolRegistry).unregister(name));
      },
      registerToolPolicy: (policy) => this.get(ToolPolicyRegistry).register(policy),
      registerProcessor: (processor, place) => this.get(ReasoningEngine).place({ processor, ...toPlace(place) }),
      registerMemoryPolicy: (policy) => this.get(MemoryPolicyRegistry).register(policy),
      registerModelFactory: (factory) => this.get(ModelRegistry).register(factory),
      registerAgent: (definition) => {
        this.get(AgentRegistry).register(definition, `the ${title}`);
        agents.push(definition.name);
        undo.push(() => this.get(AgentRegistry).unregister(definition.name));
      },
      on: (event: string, listener: OwnEventListener<never>) => {
        const end = this.get(OwnEventRegistry).register(`The ${title}`, event, listener as OwnEventListener);
        undo.push(end);
        return end;
      },
      dispatch: (event, data) => this.get(OwnEventRegistry).dispatch(event, data),
    };
    const revoke = () => {
      for (const one of undo.toReversed()) one();
    };
    return { host, agents, revoke };
  }

  private get<T>(registry: Type<T>): T {
    return this.modules.get(registry, { strict: false });
  }
}
