import { Log } from '../../errors/index.js';
import type { ParameterName } from '../chat.types.js';
import { REASONING_OFF, type FieldChange, type FieldChanges } from './adapted-request.builder.js';
import type { FittedTools } from './fitted-request.factory.js';

/** A model at an address. */
interface Target {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
}

interface Adaptation {
  readonly name: string;
  readonly changes: Map<string, FieldChange>;
}

/** A tool that requests to a model omit. */
export interface ModelOmission {
  readonly tool: string;
  /** As `provider:model`. */
  readonly model: string;
  readonly reason: string;
}

/** Maximum entries in memory, since requests name the models; beyond it, the oldest is forgotten. */
const MAX_MODELS = 1000;
const VERSION_ADDED = '/v1 is added to the base URL';

/** The changes of requests that providers required in this process. */
export class AdaptationRegistry {
  private readonly logger = new Log(AdaptationRegistry.name);
  private readonly known = new Map<string, Adaptation>();
  private readonly versions = new Map<string, { readonly provider: string; readonly isNeeded: boolean }>();
  private readonly omissions = new Map<string, ModelOmission>();
  /** The last tools of each model: the same object needs no second look. */
  private readonly lastTools = new Map<string, FittedTools>();

  /** @param droppable parameters that may be omitted although a caller set them */
  constructor(private readonly droppable: readonly ParameterName[] = []) {}

  mayDrop(parameter: ParameterName): boolean {
    return this.droppable.includes(parameter);
  }

  /** The known changes of a model's requests. */
  of(target: Target): FieldChanges {
    return new Map(this.known.get(keyOf(target))?.changes);
  }

  /** Remembers changes after a reply to the changed request; each is logged once. */
  learn(target: Target, found: FieldChanges): void {
    const { provider, model } = target;
    const key = keyOf(target);
    const { changes } = this.known.get(key) ?? this.add(key, `${provider}:${model}`);
    for (const [field, name] of found) {
      if (changes.has(field)) continue;
      changes.set(field, name);
      this.logger.warn(
        `The provider ${provider} requires changed requests to model ${model}: ${describeChange(field, name)}`,
      );
    }
  }

  /** Whether the API is below `/v1` of the base URL; undefined if that is not yet known. */
  needsVersion({ baseUrl }: Target): boolean | undefined {
    return this.versions.get(baseUrl)?.isNeeded;
  }

  /** Remembers whether the API is below `/v1`; an addition is logged. */
  learnVersion({ provider, baseUrl }: Target, isNeeded: boolean): void {
    if (this.versions.has(baseUrl)) return;
    setBounded(this.versions, baseUrl, { provider, isNeeded });
    if (isNeeded) {
      const { origin, pathname } = new URL(baseUrl);
      this.logger.warn(`The API of ${provider} is below /v1 of ${origin}${pathname}; set the base URL with /v1.`);
    }
  }

  /** Forgets the learned endpoint, unless another call has learned the opposite since. */
  forgetVersion({ baseUrl }: Target, isNeeded: boolean): void {
    if (this.versions.get(baseUrl)?.isNeeded === isNeeded) this.versions.delete(baseUrl);
  }

  /** The changes of all models, by field. */
  all(): FieldChanges {
    return new Map([...this.known.values()].flatMap(({ changes }) => [...changes]));
  }

  /** Descriptions of all changes, by `provider:model`, or by `provider` for those of a base URL. */
  list(): ReadonlyMap<string, readonly string[]> {
    const needed = [...this.versions.values()].filter(({ isNeeded }) => isNeeded);
    const lists = new Map<string, readonly string[]>(needed.map(({ provider }) => [provider, [VERSION_ADDED]]));
    for (const { name, changes } of this.known.values()) {
      const texts = [...changes].map(([field, other]) => describeChange(field, other));
      lists.set(name, [...new Set([...(lists.get(name) ?? []), ...texts])]);
    }
    return lists;
  }

  /** Remembers the tools that requests to a model omit; each is logged once. */
  learnTools({ provider, model }: Target, fitted: FittedTools): void {
    const name = `${provider}:${model}`;
    if (this.lastTools.get(name) === fitted) return;
    setBounded(this.lastTools, name, fitted);
    for (const tool of fitted.ownNames) this.omissions.delete(JSON.stringify([name, tool]));
    for (const { tool, reason } of fitted.omitted) {
      const key = JSON.stringify([name, tool]);
      if (this.omissions.get(key)?.reason === reason) continue;
      setBounded(this.omissions, key, { tool, model: name, reason });
      this.logger.warn(`Requests to model ${model} of ${provider} omit the tool ${JSON.stringify(tool)}: ${reason}`);
    }
  }

  /** The tools that requests omit. */
  omitted(): readonly ModelOmission[] {
    return [...this.omissions.values()];
  }

  private add(key: string, name: string): Adaptation {
    const made = { name, changes: new Map<string, FieldChange>() };
    setBounded(this.known, key, made);
    return made;
  }
}

function setBounded<V>(map: Map<string, V>, key: string, value: V): void {
  const [oldest] = map.keys();
  if (map.size >= MAX_MODELS && oldest !== undefined && !map.has(key)) map.delete(oldest);
  map.set(key, value);
}

function keyOf({ baseUrl, model }: Target): string {
  return JSON.stringify([baseUrl, model]);
}

export function describeChange(field: string, name: FieldChange): string {
  if (typeof name === 'number') return `${field} is added (${name})`;
  if (field === REASONING_OFF) return `${field} is added`;
  return name === null ? `${field} is omitted` : `${field} is sent as ${name}`;
}
