/** Health checks: liveness, readiness, and the state of the default agent. */
export { HealthModule } from './health.module.js';
