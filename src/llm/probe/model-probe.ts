import type { LlmConfig } from '../../config/namespaces/index.js';
import { AppError, messageOf } from '../../errors/index.js';
import type { ParameterName } from '../chat/chat.types.js';
import { configuredSettings, createModelRegistry } from '../model-registry.factory.js';
import { httpOptions } from '../wire/wire.client.js';
import type { ModelRegistry } from '../model.registry.js';
import { describeChange } from '../wire/adaptation.registry.js';
import { PARAMETERS } from '../wire/adapted-request.builder.js';
import { KeyPoolRegistry } from '../wrappers/key-pool.registry.js';
import { ModelStackFactory } from '../wrappers/model-stack.factory.js';
import { chatChecks, EFFORT_CHECK, mainChatChecks, parameterChecks } from './chat-check.registry.js';
import { formatChecks } from './format-check.registry.js';
import { historyChecks } from './history-check.registry.js';
import { type ProbedModel, ProbeTalk } from './probe-talk.js';
import { failed, type ProbeCheck, type ProbeFinding, type ProbeLesson, type ProbeRow } from './probe-check.js';
import { mainToolChecks, toolChecks } from './tool-check.registry.js';

/** The target of a probe. */
export interface ProbePlan {
  readonly provider: string;
  readonly model: string;
  /** Address of the API, without its query, which may contain a key. */
  readonly address: string;
  /** Number of model calls; repeats and retries are further ones. */
  readonly calls: number;
  readonly checks: readonly string[];
}

export interface ProbeReport {
  readonly rows: readonly ProbeRow[];
  /** Assignments for `.env`. */
  readonly lines: readonly string[];
  /** Changes of requests that need no setting. */
  readonly automatic: readonly string[];
  /** Whether agents can work: chat, streaming, tool calls, and a turn after their results. */
  readonly isUsable: boolean;
  /** Number of checks that were not run, as no chat works. */
  readonly skipped: number;
}

/** Runs checks against the configured model, one after the other, through the wrappers of all model calls. */
export class ModelProbe {
  readonly plan: ProbePlan;
  private readonly checks: readonly ProbeCheck[];
  private readonly registry: ModelRegistry;
  private readonly model: ProbedModel;
  private readonly lessons: ProbeLesson[] = [];
  private isBlocked = false;
  private isDenied = false;

  /** @throws AppError `CONFIG_INVALID` without a configured provider, or with invalid settings */
  constructor(private readonly llm: LlmConfig) {
    assertConfigured(llm);
    this.registry = createModelRegistry(
      { ...httpOptions(llm), droppable: Object.values(PARAMETERS) },
      undefined,
      llm.models,
    );
    this.model = probedModel(llm, this.registry);
    const settings = configuredSettings(llm, llm);
    const { provider, name, capabilities } = this.model.create();
    this.checks = checksFor({ capabilities, llm });
    this.plan = {
      provider,
      model: name,
      address: withoutQuery(this.registry.addressOf(settings)),
      calls: this.checks.reduce((sum, { calls }) => sum + calls, 0),
      checks: this.checks.map((check) => check.name),
    };
  }

  /**
   * @param onRow called after each check
   * @throws the signal's reason if it is aborted
   */
  async run(signal: AbortSignal, onRow: (row: ProbeRow) => void = () => undefined): Promise<ProbeReport> {
    const talk = new ProbeTalk(this.model, this.llm, signal);
    const rows: ProbeRow[] = [];
    for (const check of this.checks) {
      const row = { check: check.name, ...(await this.runCheck(check, talk, signal)) };
      rows.push(row);
      onRow(row);
      if (this.isHopeless(rows)) break;
    }
    const mains = this.checks.filter(({ isMain }) => isMain).map(({ name }) => name);
    const working = rows.filter(({ outcome }) => outcome === 'ok' || outcome === 'adapted').map((row) => row.check);
    return {
      rows,
      lines: toEnvLines(this.lessons, this.llm),
      automatic: this.automatic(),
      isUsable: !this.isBlocked && mains.every((name) => working.includes(name)),
      skipped: this.checks.length - rows.length,
    };
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await this.registry.close();
  }

  private async runCheck(
    check: ProbeCheck,
    talk: ProbeTalk,
    signal: AbortSignal,
  ): Promise<Pick<ProbeRow, 'outcome' | 'detail'>> {
    const before = talk.changes();
    const finding = await this.findingOf(check, talk, signal);
    if (finding.lesson) this.lessons.push(finding.lesson);
    this.isBlocked ||= finding.isBlocking ?? false;
    const { outcome, detail } = finding;
    if (outcome !== 'ok') return { outcome, detail };
    const found = [...talk.changes()].filter(([field]) => !before.has(field));
    if (found.length === 0) return { outcome, detail };
    return { outcome: 'adapted', detail: found.map(([field, other]) => describeChange(field, other)).join(', ') };
  }

  private async findingOf(check: ProbeCheck, talk: ProbeTalk, signal: AbortSignal): Promise<ProbeFinding> {
    if (check.needsCalls && !talk.calling) return failed('not tried: the model makes no tool calls');
    try {
      return await check.run(talk);
    } catch (error) {
      signal.throwIfAborted();
      this.isDenied ||= isFinal(error);
      return failed(messageOf(error));
    }
  }

  /** Whether the other checks would fail too: the provider denies access, or neither form of a chat works. */
  private isHopeless(rows: readonly ProbeRow[]): boolean {
    const works = (name: string) => rows.some(({ check, outcome }) => check === name && outcome !== 'failed');
    if (works('chat') || works('stream')) return false;
    return this.isDenied || rows.some(({ check }) => check === 'stream');
  }

  /** All adaptations but omitted parameters, for which a setting exists. */
  private automatic(): string[] {
    const parameters = [...this.model.changes()].filter(([field, other]) => other === null && PARAMETERS[field]);
    const covered = parameters.map(([field, other]) => describeChange(field, other));
    return [...this.registry.adaptations().values()].flat().filter((text) => !covered.includes(text));
  }
}

function assertConfigured({ provider }: LlmConfig): void {
  if (provider !== 'offline') return;
  throw new AppError(
    'CONFIG_INVALID',
    'No model provider is configured, so there is nothing to probe: the offline model calls no service. Set OPENAI_API_KEY=…, LLM_PROVIDER=ollama, or LLM_BASE_URL=… with LLM_MODEL=… (docs/providers.md).',
  );
}

/** The lines of `.env` that make the settings fit the model, each with the present settings of its variable. */
function toEnvLines(lessons: readonly ProbeLesson[], llm: LlmConfig): readonly string[] {
  const present: readonly ParameterName[] = llm.droppable ?? [];
  const refused = lessons.flatMap((lesson) => lesson.refused ?? []).filter((name) => !present.includes(name));
  const learned = Object.assign({}, ...lessons.map((lesson) => lesson.capabilities)) as Record<string, boolean>;
  const capabilities = Object.entries({ ...llm.capabilities, ...learned });
  const quirks = [...new Set([...present, ...refused])].map((name) => `drop:${name}`);
  const assignments = new Set(lessons.flatMap((lesson) => lesson.assignments ?? []));
  return [
    ...(refused.length > 0 ? [`LLM_QUIRKS=${quirks.join(',')}`] : []),
    ...(Object.keys(learned).length > 0
      ? [`LLM_CAPABILITIES=${capabilities.map(([name, can]) => (can ? name : `!${name}`)).join(',')}`]
      : []),
    ...assignments,
  ];
}

/** Without circuit breakers, which would skip calls after several failed checks, and without fallback models. */
function probedModel(llm: LlmConfig, registry: ModelRegistry): ProbedModel {
  const { breaker } = llm.resilience;
  const rules = { ...llm, resilience: { ...llm.resilience, breaker: { ...breaker, failures: 0 } } };
  const stack = new ModelStackFactory(registry, new KeyPoolRegistry(llm), rules, null, null);
  const settings = configuredSettings(llm, llm);
  return {
    create: (capabilities) => stack.create({ ...settings, capabilities: { ...llm.capabilities, ...capabilities } }),
    changes: () => registry.changes(),
  };
}

function checksFor(talk: Pick<ProbeTalk, 'capabilities' | 'llm'>): readonly ProbeCheck[] {
  const { capabilities, llm } = talk;
  const hasTools = llm.protocol === 'native' || (llm.protocol === 'auto' && capabilities.functionCalling);
  const detail = `tools are written as text (${llm.protocol === 'auto' ? 'react' : llm.protocol})`;
  const asText: ProbeCheck = { name: 'tools', calls: 0, run: () => ({ outcome: 'not supported', detail }) };
  return [
    ...mainChatChecks(),
    ...(hasTools ? mainToolChecks() : [asText]),
    ...chatChecks(),
    ...parameterChecks(talk),
    ...(hasTools ? [...toolChecks(capabilities), EFFORT_CHECK] : []),
    ...formatChecks(capabilities, hasTools),
    ...historyChecks(hasTools),
  ];
}

/** Whether a repeat cannot help: a wrong key, no credit, an unknown model, or no server. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  if (error.code === 'MODEL_AUTHENTICATION' || error.code === 'MODEL_UNREACHABLE') return true;
  const isNoCredit = error.code === 'MODEL_RATE_LIMITED' && !error.isRetryable;
  return isNoCredit || error.details?.['provider_status'] === 404;
}

function withoutQuery(address: string | undefined): string {
  const url = address === undefined ? null : URL.parse(address);
  return url ? `${url.origin}${url.pathname.replace(/\/$/, '')}` : 'its default address';
}
