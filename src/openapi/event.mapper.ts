import type { OpenAPIObject } from '@nestjs/swagger';
import type { RunEvent } from '../run/index.js';

/**
 * Descriptions of all event types; the type requires one entry for each. `docs/run-events.md` describes their fields.
 */
const EVENTS: Readonly<Record<RunEvent['type'], string>> = {
  'run.started': 'The run has started.',
  'run.resumed': 'The run resumes after waiting, after a stop of its server, or on another server.',
  'run.waiting': 'The run waits for a decision about `requests`. The stream ends.',
  'run.completed': 'The run has ended with its answer.',
  'run.failed': 'The run has ended with `error` and a partial result.',
  'run.cancelled': 'The run was cancelled.',
  'stream.closed': 'Live only: the server closes the stream of an unfinished run. Reconnect with the last event id.',
  'step.started': 'Live only: a step has started.',
  'step.restarted':
    'Live only: the model call is repeated. Discard the received text of this message; `text` is its new text so far.',
  'message.delta': 'Live only: the next piece of a message.',
  'message.completed': 'A whole message with its tool calls.',
  thought: 'The model’s reasoning, if the model reports it.',
  'tool.started': 'A tool call has started.',
  'tool.progress': 'Live only: progress of a tool call, as the tool reports it.',
  'tool.completed': 'The outcome of a tool call.',
  'state.changed':
    'A tool call has changed the tool’s state; `GET /api/tool-states/{id}` with `context_id` returns the new state.',
  'policy.decided': 'With `request_id`: the outcome of a decision request. With `policy`: the decision of a policy.',
  'node.started': 'A workflow node has started.',
  'node.completed': 'A workflow node has completed, failed, or was skipped.',
  usage: 'Token usage of a model call.',
  'model.switched': 'A model call failed, and another model was called.',
  'model.cached': 'The reply came from the cache; no model was called.',
  'history.repaired': 'The run uses a repaired history: turns were damaged, or the provider refused earlier images.',
};

const LIST = Object.entries(EVENTS).map(([type, description]) => `- \`${type}\`: ${description}`);

const EVENT_TYPE = {
  type: 'string',
  enum: Object.keys(EVENTS),
  description: `Event types of runs. A client ignores unknown types.\n\n${LIST.join('\n')}`,
};

/** Adds the schema `RunEventType`, an enumeration of all event types. */
export function withEventTypes(document: OpenAPIObject): OpenAPIObject {
  const schemas = { ...document.components?.schemas, RunEventType: EVENT_TYPE };
  return { ...document, components: { ...document.components, schemas } };
}
