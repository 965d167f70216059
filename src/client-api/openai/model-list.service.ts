import { Injectable } from '@nestjs/common';
import { AgentRegistry } from '../../agent/definition/index.js';
import { AppError } from '../../errors/index.js';
import { WorkflowRegistry } from '../../workflow/index.js';
import { WORKFLOW_PREFIX } from '../client-run.service.js';

/** A model in OpenAI's format. */
export interface ListedModel {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since 1970. */
  readonly created: number;
  readonly owned_by: string;
}

export interface ModelList {
  readonly object: 'list';
  readonly data: readonly ListedModel[];
}

/** Agents have no time of creation: it is that of the process. */
const CREATED = Math.floor(Date.now() / 1000);

/** The models of OpenAI's API: agents, the default one first, and workflows. */
@Injectable()
export class ModelListService {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly workflows: WorkflowRegistry,
  ) {}

  list(): ModelList {
    return { object: 'list', data: this.names().map(toModel) };
  }

  /** @throws AppError `AGENT_NOT_FOUND` */
  get(name: string): ListedModel {
    const names = this.names();
    if (names.includes(name)) return toModel(name);
    throw new AppError('AGENT_NOT_FOUND', `There is no model "${name}"; the models are: ${names.join(', ')}.`);
  }

  private names(): readonly string[] {
    const workflows = this.workflows.names().map((name) => `${WORKFLOW_PREFIX}${name}`);
    return [...this.agents.names(), ...workflows];
  }
}

function toModel(id: string): ListedModel {
  return { id, object: 'model', created: CREATED, owned_by: 'jackdaw' };
}
