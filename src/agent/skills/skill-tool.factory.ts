import { AppError, messageOf } from '../../errors/index.js';
import { createToolNow, inputOf } from '../../tool/index.js';
import type { Tool } from '../../tool/method/index.js';
import type { Skill, SkillRegistry } from './skill.registry.js';

/** Name of the tool that reads skills. */
export const READ_SKILL = 'read_skill';
/** Maximum number of files in a list. */
const MAX_LISTED = 100;

const INPUT = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Name of the skill' },
    path: {
      type: 'string',
      description: 'A file of the skill, such as references/rules.md; default: its instructions',
    },
  },
  required: ['name'],
};

/** A tool that reads the instructions and files of an agent's skills. @param names of these skills */
export function skillTool(skills: SkillRegistry, names: readonly string[]): Tool {
  const tool = createToolNow(
    {
      name: READ_SKILL,
      description: 'Reads the instructions of a skill, or a file that they mention.',
      source: 'skills',
      effect: 'read',
      // The operator wrote the skills, like the instructions of the agent.
      private: false,
    },
    () => inputOf(INPUT),
    async (input) => {
      const { name, path } = input as { readonly name: string; readonly path?: string };
      const skill = names.includes(name) ? skills.get(name) : undefined;
      if (!skill) throw unknownSkill(name, names);
      return path === undefined ? withFiles(skill) : readFile(skill, path);
    },
  );
  return { ...tool, isDirect: true };
}

function unknownSkill(name: string, names: readonly string[]): AppError {
  const message = names.includes(name)
    ? `The skill "${name}" is not available any more`
    : `There is no skill "${name}"`;
  return new AppError('TOOL_FAILED', `${message}; the skills are: ${names.join(', ')}.`);
}

async function withFiles(skill: Skill): Promise<string> {
  const files = await skill.files();
  if (files.length === 0) return skill.text;
  return `${skill.text}\n\nFiles of the skill (${READ_SKILL} with their path): ${listed(files)}`;
}

async function readFile(skill: Skill, path: string): Promise<string> {
  try {
    return await skill.read(path);
  } catch (error) {
    const files = await skill.files();
    const hint = files.length === 0 ? 'it has no files' : `its files: ${listed(files)}`;
    throw new AppError('TOOL_FAILED', `"${path}" of the skill "${skill.name}": ${messageOf(error)}; ${hint}.`);
  }
}

function listed(files: readonly string[]): string {
  const more = files.length > MAX_LISTED ? `, and ${files.length - MAX_LISTED} more` : '';
  return files.slice(0, MAX_LISTED).join(', ') + more;
}
