/** Outgoing webhooks: signed requests for events of runs, enqueued with the event and sent at least once. */
import { WebhookEntity } from './webhook.store.js';
import { DeliveryEntity } from './webhook-delivery.store.js';

export { WebhookModule } from './webhook.module.js';
export { WebhookService } from './webhook.service.js';
export type { NewWebhook, WebhookChanges } from './webhook.service.js';
export { WEBHOOK_SEALED_TABLES } from './webhook.store.js';
export type { Webhook } from './webhook.store.js';
export type { DeliveryStatus, WebhookDelivery } from './webhook-delivery.store.js';

export const WEBHOOK_ENTITIES = [WebhookEntity, DeliveryEntity];
