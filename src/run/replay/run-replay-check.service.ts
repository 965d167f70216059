import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ConfiguredSecrets } from '../../config/index.js';
import { toAppError } from '../../errors/index.js';
import { maskSecrets } from '../../kernel/text/index.js';
import { FILE_STEP } from '../files/run-file.mapper.js';
import type { RunFile } from '../files/run-file.types.js';
import type { ReplayedJournal } from '../context/replayed-run-context.js';
import { type RunHandler, RunHandlerRegistry } from '../run-handler.registry.js';
import type { RunRecord, RunStatus } from '../run.types.js';
import type { ChildStatus } from '../tree/child-run.types.js';
import type { ExportedRun } from './exported-run.js';
import { ObservedRunContext } from './observed-run-context.js';
import { type Divergence, RunComparison } from './run-comparison.js';

export interface ReplayCheckOptions {
  /**
   * Whether a request passes that equals the exported one, if the exported one is not the one that was sent: after a
   * change of the exporting server, or if a budget shortened the reply. Default false.
   */
  readonly allowsUnverified?: boolean;
}

/** The outcome of a replay check. */
export interface ReplayCheck {
  readonly run_id: string;
  readonly agent: string;
  readonly status: 'same' | 'diverged' | 'unsupported';
  /** The first one; only with the status `diverged`. */
  readonly divergence?: Divergence;
  /** Why the run cannot be checked; only with the status `unsupported`. */
  readonly reason?: string;
}

const ENDED: readonly string[] = ['completed', 'failed', 'cancelled'] satisfies RunStatus[];

/** Replays exported runs with the present code, definitions, tools and policies. Nothing is called and nothing is written. */
@Injectable()
export class RunReplayCheckService {
  constructor(
    private readonly handlers: RunHandlerRegistry,
    private readonly secrets: ConfiguredSecrets,
  ) {}

  /** Compares the run with its execution by the present application. */
  async check(exported: ExportedRun, { allowsUnverified = false }: ReplayCheckOptions = {}): Promise<ReplayCheck> {
    const { run_id, agent, kind } = exported;
    const reason = unsupported(exported, this.handlers.isCheckable(kind) ? this.handlers.get(kind) : null);
    if (reason !== null) return { run_id, agent, status: 'unsupported', reason };
    let current: RunRecord;
    try {
      current = this.handlers.current(toRecord(exported));
    } catch (error) {
      const actual = toAppError(error).message;
      return {
        run_id,
        agent,
        status: 'diverged',
        divergence: { step: 'start', kind: 'agent', expected: agent, actual },
      };
    }
    const comparison = new RunComparison(exported, { allowsUnverified, mask: (text) => this.mask(text) });
    const divergence = await this.compare(current, exported, comparison);
    const { incomparable: step } = comparison;
    if (step !== null) return { run_id, agent, status: 'unsupported', reason: incomparable(agent, step) };
    return divergence ? { run_id, agent, status: 'diverged', divergence } : { run_id, agent, status: 'same' };
  }

  private async compare(
    run: RunRecord,
    exported: ExportedRun,
    comparison: RunComparison,
  ): Promise<Divergence | undefined> {
    const context = new ObservedRunContext(run, journalOf(exported), comparison);
    const execution = this.handlers.get(run.kind).execute(run, context);
    return comparison.first(context.used, await execution.catch((error: unknown) => toAppError(error)));
  }

  private mask(text: string): string {
    return maskSecrets(text, this.secrets.values);
  }
}

/** Why the run cannot be checked; `null` if it can. */
function unsupported(exported: ExportedRun, handler: RunHandler | null): string | null {
  const { status, kind, forked_from: source, lineage, loop_version: version } = exported;
  if (!handler) return `Runs of kind "${kind}" cannot be replayed: only runs of agents and workflows can.`;
  if (lineage?.parentStep.startsWith('node:'))
    return 'A node of a workflow started the run: its definition is part of the workflow.';
  // Nodes that another node's failure has stopped depend on the time.
  if (kind === 'workflow' && status !== 'completed') return `The workflow has not completed: its status is ${status}.`;
  if (!ENDED.includes(status)) return `The run has not ended: its status is ${status}.`;
  if (source !== null)
    return `The run is a fork, whose definition and steps may be edited: replay its source "${source}".`;
  if (handler.loopVersions.includes(version)) return null;
  return `Version ${version} of the loop recorded the run; this application replays ${handler.loopVersions.join(', ')}.`;
}

function incomparable(agent: string, step: string): string {
  return `The exported request of ${step} and that of the agent "${agent}" here are not comparable: only one of the two models has a provider's API. Set the provider and the key of the run's model on both sides; the key may be any text for a replay, since no model is called.`;
}

function toRecord(exported: ExportedRun): RunRecord {
  const definition = JSON.stringify(exported.definition);
  const { scopes, ...principal } = exported.principal;
  return {
    id: exported.run_id,
    tenant: principal.tenant,
    principal: { ...principal, ...(scopes && { scopes }) },
    kind: exported.kind,
    agent: exported.agent,
    sessionId: exported.session_id,
    status: exported.status as RunStatus,
    epoch: 1,
    owner: null,
    attempts: 0,
    suspicions: 0,
    recoveredAt: null,
    loopVersion: exported.loop_version,
    definitionHash: hash('sha256', definition, 'hex'),
    definition,
    input: JSON.stringify(exported.input),
    timeoutMs: exported.timeout_ms,
    cancelRequestedAt: null,
    createdAt: exported.created_at,
    finishedAt: exported.finished_at,
    priority: 0,
    deadlineAt: null,
    forkedFrom: exported.forked_from,
    lineage: exported.lineage,
    isPatient: false,
    notBefore: null,
    outageSince: null,
    outageCode: null,
    traceparent: null,
    prunedAt: null,
    summary: null,
  };
}

function journalOf({ steps, files, children }: ExportedRun): ReplayedJournal {
  const stored = new Map(files.map((file) => [file.n, toFile(file)]));
  const recorded = steps
    .filter(({ kind }) => kind !== FILE_STEP)
    .map(({ name, kind, subject, result }) => ({ name, kind, subject, result: JSON.stringify(result) }));
  return {
    journal: { file: async (_run, n) => stored.get(n) },
    steps: new Map(recorded.map((step) => [step.name, step])),
    files: [...stored.values()].map(({ n, mediaType, bytes }) => ({ n, media_type: mediaType, bytes: bytes.length })),
    children: { ended: async (id) => (children[id] as ChildStatus | undefined) ?? null },
  };
}

function toFile({ n, media_type: mediaType, data, name, prefix }: ExportedRun['files'][number]): RunFile {
  const bytes = Buffer.from(data, 'base64');
  return { n, mediaType, bytes, ...(name !== undefined && { name }), ...(prefix !== undefined && { prefix }) };
}

/** An application with runs: an application or context of Nest. */
export interface ReplayingApplication {
  get<T>(token: new (...args: never[]) => T, options: { readonly strict: false }): T;
}

/**
 * Checks an exported run against an application, for tests of that application.
 * @throws AppError `INTERNAL` if the application has no runs
 */
export function replayRun(
  application: ReplayingApplication,
  exported: ExportedRun,
  options: ReplayCheckOptions = {},
): Promise<ReplayCheck> {
  return application.get(RunReplayCheckService, { strict: false }).check(exported, options);
}
