/** Health checks: liveness, readiness, and the state of the default agent. */
export { HealthPort } from './health-port.js';
export { HEALTH_ROUTES, HealthModule } from './health.module.js';
export type { HealthSignal, Readiness } from './health-port.executor.js';
