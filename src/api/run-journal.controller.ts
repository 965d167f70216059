import { Controller, Get, Param, Query } from '@nestjs/common';
import { RunHistoryService } from '../agent/history/index.js';
import type { Principal } from '../kernel/index.js';
import { type ExportedRun, RunExportService, RunReplayService } from '../run/replay/index.js';
import { CurrentPrincipal, isViewer, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { RunExportDto } from './run-export.dto.js';
import { RunJournalDto, RunJournalQueryDto, StepRequestDto } from './run-journal.dto.js';

/** Roles of messages with instructions. */
const INSTRUCTING: readonly unknown[] = ['system', 'developer'];

function isInstruction(message: unknown): boolean {
  return INSTRUCTING.includes((message as { readonly role?: unknown } | null)?.role);
}

/** The body of a request to OpenAI or Claude without the instructions of the agent. */
function withoutInstructions(body: object): object {
  const { instructions: _i, system: _s, ...rest } = body as Readonly<Record<string, unknown>>;
  const lists = (['messages', 'input'] as const).flatMap((name) => {
    const list = rest[name];
    return Array.isArray(list) ? [[name, list.filter((message) => !isInstruction(message))] as const] : [];
  });
  return { ...rest, ...Object.fromEntries(lists) };
}

/** The export without the instructions of agents, which the requests have too. */
function forViewers(exported: ExportedRun): ExportedRun {
  const definition: unknown = JSON.parse(JSON.stringify(exported.definition), (key, value: unknown) =>
    key === 'instructions' && typeof value === 'string' ? undefined : value,
  );
  return { ...exported, definition, requests: [] };
}

@Requires('runs:read')
@Controller('runs')
export class RunJournalController {
  constructor(
    private readonly history: RunHistoryService,
    private readonly replays: RunReplayService,
    private readonly exports: RunExportService,
    private readonly access: AccessLogService,
  ) {}

  /** The run's journal: its steps in the order of the loop, and its events. */
  @Get(':id/journal')
  page(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: RunJournalQueryDto,
  ): Promise<RunJournalDto> {
    return this.history.journal(principal, id, query);
  }

  /**
   * The run with its journal, the requests of its model calls, its files and the earlier turns that it has read, for
   * `jackdaw replay`. A viewer’s lacks instructions and requests.
   */
  @Get(':id/export')
  async export(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<RunExportDto> {
    const exported = await this.exports.export(principal, id);
    this.access.record(principal, 'read', 'run.journal', id);
    return isViewer(principal) ? forViewers(exported) : exported;
  }

  /**
   * The request of a model call (`model:1`), rebuilt from the journal with the present configuration: the body for the provider,
   * and whether it is the body that was sent. A viewer's lacks instructions.
   */
  @Get(':id/steps/:name/request')
  async request(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('name') name: string,
  ): Promise<StepRequestDto> {
    const { body, sentHash, hash } = await this.replays.request(principal, id, name);
    this.access.record(principal, 'read', 'run.journal', id);
    const isSame = sentHash === null || hash === null ? null : sentHash === hash;
    return {
      body: body && isViewer(principal) ? withoutInstructions(body) : body,
      sent_hash: sentHash,
      hash,
      is_same: isSame,
    };
  }
}
