import { Global, Module } from '@nestjs/common';
import { AccessLogRetentionService } from './access-log-retention.service.js';
import { AccessLogService } from './access-log.service.js';
import { AccessLogStore } from './access-log.store.js';

/** The access log, for every module that serves stored data. */
@Global()
@Module({
  providers: [AccessLogStore, AccessLogService, AccessLogRetentionService],
  exports: [AccessLogService, AccessLogStore],
})
export class AccessLogModule {}
