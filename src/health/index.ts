/** Whether the server lives, is ready, and can answer. */
export { HealthModule } from './health.module.js';
