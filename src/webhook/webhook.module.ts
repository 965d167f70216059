import { Module } from '@nestjs/common';
import { RunModule } from '../run/index.js';
import { TelemetryModule } from '../telemetry/index.js';
import { OutgoingModule } from '../security/egress/index.js';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookClient } from './webhook.client.js';
import { WebhookService } from './webhook.service.js';
import { WebhookStore } from './webhook.store.js';

@Module({
  imports: [TelemetryModule, RunModule, OutgoingModule],
  providers: [WebhookStore, WebhookDeliveryStore, WebhookClient, WebhookSender, WebhookService],
  exports: [WebhookService],
})
export class WebhookModule {}
