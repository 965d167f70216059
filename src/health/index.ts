/** Health checks: liveness, readiness, and the state of the default agent. */
export { HEALTH_ROUTES, HealthModule } from './health.module.js';
