import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { AgentModelFactory } from '../agent/index.js';
import { AgentRegistry } from '../agent/definition/index.js';
import { messageOf } from '../errors/index.js';
import { KeyPoolRegistry, ModelStackFactory } from '../llm/index.js';

/** Whether the default agent has a model. The check makes no model call. */
@Injectable()
export class ModelHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly agents: AgentRegistry,
    private readonly models: AgentModelFactory,
    private readonly stack: ModelStackFactory,
    private readonly keys: KeyPoolRegistry,
  ) {}

  check(): HealthIndicatorResult {
    const session = this.indicators.check('model');
    try {
      const { provider, name } = this.models.create(this.agents.get().definition);
      return session.up({ provider, name, ...this.troubles() });
    } catch (error) {
      return session.down(messageOf(error));
    }
  }

  /**
   * Circuits that are not closed, numbers of unusable keys without the keys themselves, changes of requests, and
   * assumptions about unknown models. Of
   * omitted tools only the numbers, by model: tool names require a scope, but health is public.
   */
  private troubles(): object {
    const circuits = [...this.stack.circuits()].filter(([, state]) => state !== 'closed');
    const keys = [...this.keys.states()].filter(([, { cooling, retired }]) => cooling + retired > 0);
    const adaptations = [...this.stack.adaptations()];
    const assumptions = [...this.stack.assumptions()];
    const omitted = Object.groupBy(this.stack.omittedTools(), ({ model }) => model);
    const counts = Object.entries(omitted).map(([model, tools]) => [model, tools!.length]);
    return {
      ...(counts.length > 0 && { omitted_tools: Object.fromEntries(counts) as object }),
      ...(adaptations.length > 0 && { adaptations: Object.fromEntries(adaptations) }),
      ...(assumptions.length > 0 && { assumptions: Object.fromEntries(assumptions) }),
      ...(circuits.length > 0 && { circuits: Object.fromEntries(circuits) }),
      ...(keys.length > 0 && { keys: Object.fromEntries(keys) }),
    };
  }
}
