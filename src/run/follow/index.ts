/** Followers and listeners: events of runs as streams, and calls of listeners in the process. */
export type { RunListener } from './run-bus.js';
export {
  RunListenerRegistry,
  eventTypesOf,
  type RunEventPattern,
  type RunNotice,
  type RunNoticeListener,
} from './run-listener.registry.js';
export { RunFollowService } from './run-follow.service.js';
