import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { RunJournalDto, RunJournalQueryDto } from './run-journal.dto.js';
import { RunJournalService } from './run-journal.service.js';

@Requires('runs:read')
@Controller('runs')
export class RunJournalController {
  constructor(private readonly journals: RunJournalService) {}

  /** The run's journal: its steps in the order of the loop, and its events. */
  @Get(':id/journal')
  page(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: RunJournalQueryDto,
  ): Promise<RunJournalDto> {
    return this.journals.page(principal, id, query);
  }
}
