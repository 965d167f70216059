import { Controller, Get, Param, Query } from '@nestjs/common';
import { RunHistoryService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { RunJournalDto, RunJournalQueryDto } from './run-journal.dto.js';

@Requires('runs:read')
@Controller('runs')
export class RunJournalController {
  constructor(private readonly history: RunHistoryService) {}

  /** The run's journal: its steps in the order of the loop, and its events. */
  @Get(':id/journal')
  page(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: RunJournalQueryDto,
  ): Promise<RunJournalDto> {
    return this.history.journal(principal, id, query);
  }
}
