import { z } from 'zod';
import { agentDefinitionSchema } from '../../src/agent/definition/agent-definition.schema.js';
import { workflowSchema } from '../../src/workflow/definition/workflow.schema.js';

type Schema = Record<string, unknown>;
type Fields = Record<string, Schema>;

const text = { type: 'string' };
const src = { type: 'object', properties: { src: text }, required: ['src'], additionalProperties: false };
/** A declared variable may have any type. */
const variable = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' };

/** Schemas of fields that zod checks in code, and so cannot export. */
const OWN: Fields = {
  responseFormat: {
    anyOf: [
      { const: 'json' },
      {
        type: 'object',
        properties: { name: text, schema: { type: 'object' } },
        required: ['schema'],
        additionalProperties: false,
      },
    ],
  },
  mcpServers: {
    type: 'array',
    items: {
      anyOf: [
        text,
        {
          type: 'object',
          properties: { name: text, enabled: { type: 'boolean', default: true } },
          required: ['name'],
          additionalProperties: false,
        },
      ],
    },
  },
};

/** The schema in docs/schemas/agent.schema.json: an agent file may inherit the required fields of a definition. */
export function agentFileSchema(): Schema {
  const { $schema, properties, ...rest } = schemaOf(agentDefinitionSchema);
  const fields = properties as Fields;
  const own = {
    $schema: text,
    extends: { ...text, minLength: 1 },
    env: { type: 'array', items: { ...text, minLength: 1 } },
  };
  const { name, ...inherited } = fields;
  return {
    $schema,
    title: 'An agent file of Jackdaw: docs/agent-files.md',
    ...rest,
    required: ['name'],
    properties: {
      name,
      ...own,
      ...Object.fromEntries(Object.entries(inherited).map(([key, field]) => [key, heritable(field)])),
      instructions: { anyOf: [fields['instructions'], src] },
    },
  };
}

/** The schema in docs/schemas/workflow.schema.json. */
export function workflowFileSchema(): Schema {
  const { $schema, properties, ...rest } = schemaOf(workflowSchema);
  const title = 'A workflow file of Jackdaw: docs/workflows.md';
  return { $schema, title, ...rest, properties: { $schema: text, ...(properties as Fields) } };
}

function schemaOf(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema, path }) => {
      const own = OWN[String(path.at(-1))];
      if (own && path.at(-2) === 'properties') Object.assign(jsonSchema, own);
    },
  }) as Schema;
}

/** Each field of an object may be inherited from the extended agent; lists are inherited as a whole. */
function heritable(schema: Schema): Schema {
  const { required: _required, properties, ...rest } = schema;
  if (schema['enum']) return { anyOf: [schema, variable] };
  if (!properties) return schema;
  const fields = Object.entries(properties as Fields).map(([key, field]) => [key, heritable(field)]);
  return { ...rest, properties: Object.fromEntries(fields) };
}
