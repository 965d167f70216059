/** Outgoing HTTP: requests to permitted addresses only, within limits of size and time. */
export { IntakePace, OutgoingFetch } from './outgoing-fetch.factory.js';
export { OutgoingClient } from './outgoing.client.js';
export { SecretRedaction } from './secret-redaction.js';
export { MAX_VALUES, ValueCounter } from './value-count.parser.js';
export { OutgoingModule } from './outgoing.module.js';
export type { OutgoingOptions } from './outgoing.client.js';
export type { OutgoingCookies, OutgoingLimits, OutgoingReply, OutgoingRequest } from './outgoing.types.js';
