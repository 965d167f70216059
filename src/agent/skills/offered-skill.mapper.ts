import { estimateTokens } from '../../llm/index.js';
import type { Skill } from './skill.registry.js';

/** A skill as the model sees it before it reads the skill. */
export interface OfferedSkill {
  readonly name: string;
  /** In one line, and shortened. */
  readonly description: string;
}

/** Estimates are at most a tenth below the exact count, which is then at most 120. */
const MAX_TOKENS = 108;

/** Name and description of a skill, at most 120 tokens together. */
export function toOffered({ name, description }: Pick<Skill, 'name' | 'description'>): OfferedSkill {
  const whole = description.split(/\s+/).join(' ').trim();
  if (isShort(name, whole)) return { name, description: whole };
  const characters = Array.from(whole);
  let [length, over] = [0, characters.length];
  while (over - length > 1) {
    const middle = Math.floor((length + over) / 2);
    if (isShort(name, `${characters.slice(0, middle).join('')}…`)) length = middle;
    else over = middle;
  }
  return { name, description: `${endingAtWord(characters.slice(0, length).join(''))}…` };
}

/** Adds the list of skills to the instructions of an agent. */
export function withSkills(instructions: string, skills: readonly OfferedSkill[]): string {
  const lines = skills.map(({ name, description }) => lineOf(name, description));
  return `${instructions}\n\nSkills are instructions for certain tasks. Before you do a task that a skill covers, read the skill with read_skill and follow it.\n${lines.join('\n')}`;
}

function isShort(name: string, description: string): boolean {
  const line = `${lineOf(name, description)}\n`;
  // A token has at least one byte.
  return Buffer.byteLength(line) <= MAX_TOKENS || estimateTokens(line) <= MAX_TOKENS;
}

function lineOf(name: string, description: string): string {
  return `- ${name}: ${description}`;
}

/** Removes the part of a word at the end, unless the text has no spaces. */
function endingAtWord(text: string): string {
  const end = text.lastIndexOf(' ');
  return end > text.length / 2 ? text.slice(0, end) : text;
}
