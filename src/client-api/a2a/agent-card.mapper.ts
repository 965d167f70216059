import type { AgentDefinition } from '../../agent/definition/index.js';
import { VERSION } from '../../kernel/index.js';
import { IDEMPOTENT_MESSAGES } from './a2a.types.js';
import { INPUT_MODES, OUTPUT_MODES } from './message.mapper.js';

/** The public part of an agent. */
export type CardSubject = Pick<AgentDefinition, 'name' | 'description' | 'offeredSkills'>;

export interface CardPlace {
  /** The URL of the agent: `https://example.com/a2a/default`. */
  readonly url: string;
  /** Whether requests need an API key. */
  readonly needsKey: boolean;
}

/** The card of an agent. Its instructions, tools, models and limits are not public. */
export function toAgentCard(agent: CardSubject, { url, needsKey }: CardPlace): object {
  const { name, description } = agent;
  return {
    name,
    description: described(description, name),
    version: VERSION,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        { uri: IDEMPOTENT_MESSAGES, description: 'A repeated messageId gets the task of the first message.' },
      ],
    },
    ...(needsKey && {
      securitySchemes: {
        bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key of Jackdaw.' } },
        apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key', description: 'The same key.' } },
      },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }, { schemes: { apiKey: { list: [] } } }],
    }),
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: OUTPUT_MODES,
    skills: skillsOf(agent),
  };
}

/** The card in the form of 0.3, for its clients. */
export function toFormerCard(agent: CardSubject, { url, needsKey }: CardPlace): object {
  const { name, description } = agent;
  return {
    protocolVersion: '0.3.0',
    name,
    description: described(description, name),
    url,
    preferredTransport: 'JSONRPC',
    version: VERSION,
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    ...(needsKey && {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key of Jackdaw.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key.' },
      },
      security: [{ bearer: [] }, { apiKey: [] }],
    }),
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: OUTPUT_MODES,
    skills: skillsOf(agent),
    supportsAuthenticatedExtendedCard: false,
  };
}

/** A card needs a skill: an agent without skills is one itself. */
function skillsOf({ name, description, offeredSkills = [] }: CardSubject): object[] {
  if (offeredSkills.length === 0)
    return [{ id: name, name, description: described(description, name), tags: ['agent'] }];
  return offeredSkills.map((skill) => ({
    id: skill.name,
    name: skill.name,
    description: skill.description,
    tags: ['skill'],
  }));
}

function described(description: string, name: string): string {
  return description.trim() === '' ? `The agent "${name}".` : description;
}
