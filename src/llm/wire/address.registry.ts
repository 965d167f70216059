import { Log } from '../../errors/index.js';

/** A model at an address. */
export interface Target {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** The API, for a model that has several. */
  readonly api?: 'responses';
}

/** Maximum entries in memory, since requests name the models; beyond it, the oldest is forgotten. */
const MAX_ENTRIES = 1000;
const VERSION_ADDED = '/v1 is added to the base URL';
const CHAT_USED = 'Chat Completions are used, as there is no Responses API';

export function setBounded<V>(map: Map<string, V>, key: string, value: V): void {
  const [oldest] = map.keys();
  if (map.size >= MAX_ENTRIES && oldest !== undefined && !map.has(key)) map.delete(oldest);
  map.set(key, value);
}

/** Changes of requests to a model, or to all models of a provider. */
interface Change {
  /** `provider:model`, or `provider`. */
  readonly name: string;
  readonly change: string;
}

/** Facts about the endpoints of base URLs, learned by this process. */
export class AddressRegistry {
  private readonly logger = new Log(AddressRegistry.name);
  private readonly versions = new Map<string, { readonly provider: string; readonly isNeeded: boolean }>();
  /** By base URL, or by base URL and model: the name for which only Chat Completions work. */
  private readonly chats = new Map<string, string>();
  private readonly responding = new Map<string, true>();

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

  /** Whether the base URL has no Responses API, or not for this model. */
  needsChat({ baseUrl, model }: Target): boolean {
    return this.chats.size > 0 && (this.chats.has(baseUrl) || this.chats.has(modelKey(baseUrl, model)));
  }

  /** Remembers that Chat Completions replied where the Responses API is missing; logged once. */
  learnChat({ provider, baseUrl, model }: Target, isOfModel: boolean): void {
    const key = isOfModel ? modelKey(baseUrl, model) : baseUrl;
    if (this.chats.has(key)) return;
    const name = isOfModel ? `${provider}:${model}` : provider;
    setBounded(this.chats, key, name);
    const { origin, pathname } = new URL(baseUrl);
    this.logger.warn(
      `${origin}${pathname} has no Responses API for ${name}: requests use Chat Completions. LLM_OPENAI_API=chat selects them without a trial.`,
    );
  }

  /** Whether the Responses API of the base URL has replied: a page instead of a reply then does not mean that it is missing. */
  hasResponses({ baseUrl }: Target): boolean {
    return this.responding.has(baseUrl);
  }

  learnResponses({ baseUrl }: Target): void {
    if (!this.responding.has(baseUrl)) setBounded(this.responding, baseUrl, true);
  }

  list(): readonly Change[] {
    const needed = [...this.versions.values()].filter(({ isNeeded }) => isNeeded);
    return [
      ...needed.map(({ provider }) => ({ name: provider, change: VERSION_ADDED })),
      ...[...this.chats.values()].map((name) => ({ name, change: CHAT_USED })),
    ];
  }
}

function modelKey(baseUrl: string, model: string): string {
  return JSON.stringify([baseUrl, model]);
}
