import { z } from 'zod';
import { ID_RULE, isId } from '../../kernel/index.js';
import { checked, flag, integer } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';

const DAY_MS = 86_400_000;

function readSkills(text: string): readonly string[] | undefined {
  const names = text.trim() === 'none' ? [] : text.split(',').map((name) => name.trim());
  return names.every((name) => /^[a-z0-9*-]{1,64}$/.test(name)) ? names : undefined;
}

/** The default agent, and limits of all agents. */
export const agentConfig = namespace(
  'jackdaw.agent',
  'Agents',
  {
    AGENT_NAME: checked((text) => (isId(text) && !text.startsWith('workflow:') ? text : undefined), ID_RULE)
      .default('default')
      .describe('Name of the default agent'),
    AGENT_INSTRUCTIONS: z.string().optional().describe('System prompt of the default agent'),
    AGENT_SKILLS: checked(readSkills, 'none, or names of skills, comma-separated, with * for any characters')
      .default(['*'])
      .describe('Skills of the default agent; `*` matches any characters'),
    AGENT_MAX_ITERATIONS: integer(1, 1000).default(10).describe('Maximum model calls per run'),
    AGENT_RUN_TIMEOUT_MS: integer(1, DAY_MS, 'ms').default(300_000).describe('Time limit of a run, in ms'),
    AGENT_MAX_DEPTH: integer(0, 16)
      .default(3)
      .describe('Maximum depth of nested agent calls of the default agent; 0 disables them'),
    AGENT_MAX_TOOLS: integer(1, 1_000_000)
      .default(40)
      .describe(
        'Maximum tools that the model of the default agent gets from the start; of more tools, some are deferred until `find_tools` finds them',
      ),
    AGENT_MAX_TOOL_TOKENS: integer(1, 100_000_000, 'tokens')
      .default(8_000)
      .describe('The same for the tokens of their names, descriptions and schemas'),
    AGENT_MAX_RESULT_BYTES: integer(256, 16_777_216, 'bytes')
      .default(65_536)
      .describe('Maximum size of a tool result for the model, in bytes'),
    AGENT_MAX_IMAGE_BYTES: integer(0, 50_331_648, 'bytes')
      .default(5_242_880)
      .describe('Maximum total size of the data-URI images of one request, and of one tool result, in bytes'),
    AGENT_MAX_FILE_BYTES: integer(0, 50_331_648, 'bytes')
      .default(5_242_880)
      .describe(
        'Maximum total size of the files (binary content) of one tool result, in bytes, or `AGENT_MAX_IMAGE_BYTES` if that is larger; those of a run may have 20 times as much. Larger content is left out, with a note',
      ),
    AGENT_MEMORY_ENABLED: flag().default(true).describe('Whether a run receives earlier turns of its session'),
    AGENT_MEMORY_POLICY: z
      .string()
      .default('sliding_window')
      .describe('Selection of earlier turns: `sliding_window`, `fixed_window`, `lru`, `token_budget` or `summary`'),
    AGENT_MEMORY_MAX_MESSAGES: integer(0, 1_000_000)
      .optional()
      .describe('Maximum earlier messages for the model; by default 200'),
    AGENT_MEMORY_MAX_CONTEXT_TOKENS: integer(0, 100_000_000)
      .optional()
      .describe(
        'Maximum tokens of earlier messages for the model; by default a quarter of its context window, at most 16,000, or 8,000 if the window is unknown',
      ),
    AGENT_MEMORY_INCLUDE_TOOL_CALLS: flag()
      .default(true)
      .describe('Whether the model receives earlier tool calls and results'),
    AGENT_MEMORY_KEEP_FIRST: integer(0, 10_000)
      .default(10)
      .describe('Number of first messages that `fixed_window` always includes'),
  },
  (env) => ({
    name: env.AGENT_NAME,
    ...compact({ instructions: env.AGENT_INSTRUCTIONS }),
    skills: env.AGENT_SKILLS,
    maxIterations: env.AGENT_MAX_ITERATIONS,
    runTimeoutMs: env.AGENT_RUN_TIMEOUT_MS,
    maxResultBytes: env.AGENT_MAX_RESULT_BYTES,
    maxDepth: env.AGENT_MAX_DEPTH,
    maxTools: env.AGENT_MAX_TOOLS,
    maxToolTokens: env.AGENT_MAX_TOOL_TOKENS,
    maxImageBytes: env.AGENT_MAX_IMAGE_BYTES,
    /** At least that of images: every image that a model may see is a file too. */
    maxFileBytes: Math.max(env.AGENT_MAX_FILE_BYTES, env.AGENT_MAX_IMAGE_BYTES),
    memory: {
      enabled: env.AGENT_MEMORY_ENABLED,
      policy: env.AGENT_MEMORY_POLICY,
      includeToolCalls: env.AGENT_MEMORY_INCLUDE_TOOL_CALLS,
      keepFirst: env.AGENT_MEMORY_KEEP_FIRST,
      ...compact({
        maxMessages: env.AGENT_MEMORY_MAX_MESSAGES,
        maxContextTokens: env.AGENT_MEMORY_MAX_CONTEXT_TOKENS,
      }),
    },
  }),
);
export type AgentConfig = NamespaceConfig<typeof agentConfig>;
