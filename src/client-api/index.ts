/** Wire formats of standard clients: each maps the events of a run. `/v1` speaks OpenAI's API, `/ag-ui` AG-UI, `/a2a` A2A. */
export { ClientApiModule } from './client-api.module.js';
