import type { OpenAPIObject } from '@nestjs/swagger';
import type { RunEvent } from './run/index.js';

/** One entry a type, or it does not compile. `docs/run-events.md` says what each bears. */
const EVENTS: Readonly<Record<RunEvent['type'], string>> = {
  'run.started': 'It is begun.',
  'run.resumed': 'It goes on after it waited, its server ended, or another one has taken it over.',
  'run.waiting': 'It goes on when somebody has decided about `requests`. A stream ends here.',
  'run.completed': 'The end, with the answer.',
  'run.failed': 'The end, with `error` and what was reached.',
  'run.cancelled': 'The end, as somebody wanted it.',
  'stream.closed': 'Live only: this server stops telling though the run has not ended: come back with the last place.',
  'step.started': 'Live only: a step begins.',
  'step.restarted':
    'Live only: the model is asked anew; what was told of this message is void, `text` is what it says so far.',
  'message.delta': 'Live only: the next piece of the message.',
  'message.completed': 'The whole message, and the calls in it.',
  thought: 'What the model thought, where that is told.',
  'tool.started': 'A call of a tool begins.',
  'tool.progress': 'Live only: how far it has come, as the tool tells it.',
  'tool.completed': 'What came of it.',
  'state.changed':
    'The call has changed its tool’s state; `GET /api/tool-states/{id}` with `context_id` tells what it is now.',
  'policy.decided':
    'With `request_id`: what became of a request that the run waited for. With `policy`: what a policy decided.',
  'node.started': 'A node of a workflow begins.',
  'node.completed': 'A node of a workflow is completed, has failed, or is skipped.',
  usage: 'The tokens that a call of a model took.',
  'model.switched': 'A model did not answer, and another one was asked.',
  'model.cached': 'The reply was known from before: no model was asked.',
  'history.repaired': 'Turns of the session were damaged; the run has of them what makes sense.',
};

const LIST = Object.entries(EVENTS).map(([type, tells]) => `- \`${type}\`: ${tells}`);

const EVENT_TYPE = {
  type: 'string',
  enum: Object.keys(EVENTS),
  description: `What runs tell. A client passes over types that it does not know.\n\n${LIST.join('\n')}`,
};

/** Adds the schema `RunEventType`, which names all that runs tell. */
export function withEventTypes(document: OpenAPIObject): OpenAPIObject {
  const schemas = { ...document.components?.schemas, RunEventType: EVENT_TYPE };
  return { ...document, components: { ...document.components, schemas } };
}
